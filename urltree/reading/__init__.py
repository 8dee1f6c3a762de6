"""Inputs of the command: files, folders and standard input as pages, one at a time.

    page.html        one page
    pages.jsonl      JSON Lines with the fields of raw-html
    crawl.warc       HTML responses
    site/            all of these below it, in the order of their names
    -                standard input, any of the three

Each may be compressed by gzip or zstd. Names that say nothing are known by their content.
"""

from urltree.reading.reader import Reader
from urltree.reading.stream import InputError

__all__ = ["InputError", "Reader"]
