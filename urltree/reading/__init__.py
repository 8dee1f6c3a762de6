"""Readers of the command's inputs: files, folders and standard input become pages, one at a time.

    page.html        one page
    pages.jsonl      JSON Lines with the fields of raw-html
    crawl.warc       HTML responses
    site/            all of these in the folder and below, in the order of their names
    -                standard input, any of the three formats

Each may be compressed by gzip or zstd. If the name does not show the format, the content does.
"""

from urltree.reading.reader import Reader
from urltree.reading.stream import InputError

__all__ = ["InputError", "Reader"]
