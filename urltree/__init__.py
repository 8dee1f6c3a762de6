"""Clean text from whole web sites: what recurs on a branch of a site is boilerplate."""

from urltree.extracting import extract
from urltree.extraction import ExtractedBlock, Extraction
from urltree.extractor import Extractor
from urltree.page import Page
from urltree.state import StateError
from urltree.window import Eviction

__all__ = [
    "Eviction",
    "ExtractedBlock",
    "Extraction",
    "Extractor",
    "Page",
    "StateError",
    "extract",
]
