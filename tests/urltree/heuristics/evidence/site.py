"""A site of small articles, and a function that returns the block kinds of one more page."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from tests.urltree.builders import of_html
from urltree.heuristics.boilerplate import Kind
from urltree.heuristics.registry import heuristic
from urltree.site.site import Site

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def said(what: object, words: int = 20) -> str:
    """Return a sentence of random words; the same `what` always gets the same sentence."""
    random = Random(str(what))
    return " ".join("".join(random.choices(SYLLABLES, k=3)) for _ in range(words)).capitalize()


def article(name: object, inside: str = "", *, above: str = "", beside: str = "") -> str:
    r"""Return an article; the class of its main element has no meaning.

    Args:
        name: name that determines the title and the three paragraphs.
        inside: HTML to add at the end of the main element.
        above: HTML to add before the title.
        beside: HTML to add after the main element.
    """
    title = said((name, "title"), 5)
    text = "".join(f"<p>{said((name, place))}</p>" for place in range(3))
    main = f"<div class=a1>{above}<h1>{title}</h1>{text}{inside}</div>"
    return f"<html><head><title>{title}</title></head><body>{main}{beside}</body></html>"


def kinds(html: str, past: Iterable[str] = (), without: str | None = None) -> dict[str, Kind]:
    r"""Return a dict from the text of each block of a page to the kind of the block.

    Args:
        html: HTML of the page.
        past: HTML of the earlier pages of its site.
        without: name of a signal to leave out; None uses all signals.
    """
    name = f"evidence-without-{without}" if without else "evidence"
    domain = Site(heuristic(name), None)
    for number, former in enumerate(past):
        domain.learn(of_html(number, former), None)
    document = of_html(2**31, html)
    verdict = domain.learn(document, None).verdict
    found = verdict.kinds or b""
    return {b.text: Kind(kind) for b, kind in zip(document.blocks, found, strict=True)}
