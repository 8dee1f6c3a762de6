"""Readers of the command's inputs: files, folders and standard input become pages, one at a time.

    page.html        one page
    pages.jsonl      JSON Lines with the fields of raw-html
    crawl.warc       HTML responses
    site/            all files of these formats in the folder and its subfolders, sorted by name
    -                standard input in one of the three formats

A file may be compressed with gzip or zstd. Its name shows the format. If the name of an input does
not show the format, the content does; in a folder such a file is skipped.
"""

from urltree.reading.reader import Reader
from urltree.reading.stream import InputError

__all__ = ["InputError", "Reader"]
