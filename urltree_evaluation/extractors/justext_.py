"""jusText: classifies paragraphs by length, links and stop words, then by their neighbours."""

from __future__ import annotations

from justext import get_stoplist, get_stoplists, justext

from urltree_evaluation.extractors.registry import single_page

# The language of a page is unknown, so the stop words of all languages are used.
_STOP_WORDS = frozenset[str]().union(*map(get_stoplist, get_stoplists()))


@single_page(
    "justext",
    "the stop words of all its languages; no option for comments and tables",
    package="justext",
)
def extract(html: str, url: str) -> str:  # noqa: ARG001 - the signature of all extractors
    """Return the paragraphs that jusText with default options does not mark as boilerplate."""
    paragraphs = justext(html, _STOP_WORDS)
    return "\n".join(each.text for each in paragraphs if not each.is_boilerplate)
