"""Pages of a newspaper for tests: articles, and section fronts with links to the articles."""

from __future__ import annotations

from collections.abc import Sequence

HOST = "https://news.example"
NAMES = [
    *("amber", "birch", "cedar", "dogwood", "elm", "fir", "gorse"),
    *("hazel", "iris", "juniper", "kelp", "larch", "maple", "nettle"),
]
MENU = "<ul class=menu><li><a href=/>All the news<li><a href=/a>About this paper</ul>"


def headline(name: str) -> str:
    """Return the headline of an article."""
    return f"Council decides about the old {name}"


def lead(name: str) -> str:
    """Return the first paragraph of an article, which is also its summary on a section front."""
    return f"The {name} has stood beside the {name} bridge for longer than anyone can say today."


def article(name: str, below: str = "", paragraph: str = "<p>{}</p>") -> str:
    r"""Return an article of 70 words.

    Args:
        name: name that determines the text.
        below: HTML to add after the article.
        paragraph: HTML of a paragraph, with {} in place of its text.
    """
    texts = [lead(name)] + [
        f"A {place} near the {name} was what the {name} council had in mind {place} by {place}, as"
        f" the {name} committee said later."
        for place in ("school", "station")
    ]
    body = "".join(map(paragraph.format, texts))
    return _page(headline(name), f"<div class=entry><h1>{headline(name)}</h1>{body}</div>{below}")


def front(names: Sequence[str], title: str = "The city", *, linked: bool = False) -> str:
    """Return a section front: linked headlines with summaries, which are links too if `linked`."""
    return _page(title, f"<h1>{title}</h1><div class=list>{teasers(names, linked=linked)}</div>")


def teasers(names: Sequence[str], *, linked: bool = False) -> str:
    """Return headlines and summaries of articles, as on a section front or below an article."""
    html = [
        f"<div class=item><h3><a href=/{n}>{headline(n)}</a></h3><p>"
        + (f"<a href=/{n}>{lead(n)}</a>" if linked else lead(n))
        + "</p></div>"
        for n in names
    ]
    return "".join(html)


def links(names: Sequence[str]) -> str:
    """Return an archive page, which has only linked headlines and no heading elements for them."""
    items = "".join(f"<li><a href=/{n}>{headline(n)}</a></li>" for n in names)
    return _page("Archive", f"<h1>Archive</h1><ul class=archive>{items}</ul>")


def _page(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body>{MENU}{body}</body></html>"
