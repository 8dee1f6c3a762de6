"""magic-html: applies rules for many platforms, then readability's method."""

from __future__ import annotations

import logging
import sys

from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.extractors.registry import single_page

# py_asciimath configures logging to stderr on import, unless the root logger has a handler
_nowhere = logging.NullHandler()
logging.root.addHandler(_nowhere)
try:
    from magic_html import GeneralExtractor
except ModuleNotFoundError:
    if sys.version_info < (3, 12):
        raise ImportError("needs Python 3.12") from None
    raise
finally:
    logging.root.removeHandler(_nowhere)

_extractor = GeneralExtractor()


@single_page(
    "magic-html",
    "as an article: comments off, tables on; text of its HTML by our tokenizer",
    package="magic-html",
)
def extract(html: str, url: str) -> str:
    """Return the article's text; the URL selects the rules of a platform and resolves links."""
    return html_text(_extractor.extract(html, base_url=url)["html"])
