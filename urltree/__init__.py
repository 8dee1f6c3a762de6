"""Clean text from whole web sites: text that many pages of a site repeat is boilerplate."""

from urltree.extractor import Extractor, extract
from urltree.output.extraction import ExtractedBlock, Extraction
from urltree.page import Page
from urltree.site.state_directory import StateError
from urltree.tree.window import Eviction

__all__ = [
    "Eviction",
    "ExtractedBlock",
    "Extraction",
    "Extractor",
    "Page",
    "StateError",
    "extract",
]
