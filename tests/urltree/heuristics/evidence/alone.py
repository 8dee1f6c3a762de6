"""One page for each signal of the heuristic `evidence`, on which only this signal decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.urltree.heuristics.evidence.site import article, said
from urltree.heuristics.boilerplate import Kind


class Alone(NamedTuple):
    r"""A test page with a block whose kind depends on a single signal.

    Attributes:
        what: description of the page.
        block: text of the block.
        kind: kind of the block if all signals are used.
        html: HTML of the page.
        past: HTML of the earlier pages of the site.
        otherwise: kind of the block if the signal is left out.
    """

    what: str
    block: str
    kind: Kind
    html: str
    past: Sequence[str] = ()
    otherwise: Kind = Kind.CONTENT


REMARK = said("a remark", 12)
REMARKS = "".join(f"<div class=r1><p>{said(('remark', n), 60)}</p></div>" for n in range(3))
TITLE = said(("p", "title"), 5)


def teaser(name: object) -> str:
    """Return a box that contains the title of another article, without a link."""
    return f"<div class=b1><p>{said(('teaser', name), 8)}</p></div>"


def links(name: object) -> str:
    """Return a list of links to other articles, which differs from page to page."""
    items = "".join(f"<li><a href=/{n}>{said((name, 'link', n), 6)}</a></li>" for n in range(3))
    return f"<ul class=l1>{items}</ul>"


PAGES = {
    "marks": Alone(
        "a footer stands in the middle of the text",
        REMARK,
        Kind.NAVIGATION,
        article("p", f"<footer>{REMARK}</footer>"),
    ),
    "names": Alone(
        "a comment stands at the end of the text, in an element that says so",
        REMARK,
        Kind.COMMENTS,
        article("p", f"<div class=comments><p>{REMARK}</p></div>"),
    ),
    "line-numbers": Alone(
        "numbers of lines stand beside code",
        "8\n9\n10",
        Kind.LINE_NUMBERS,
        article("p", "<table><tr><td><pre>8\n9\n10</pre><td><pre>let it\nbe\nso</pre></table>"),
    ),
    "repetition": Alone(
        "the same paragraph ends the text of every page",
        REMARK,
        Kind.SITE_WIDE,
        article("p", f"<p>{REMARK}</p>"),
        [article(n, f"<p>{REMARK}</p>") for n in range(12)],
    ),
    "repeated-paths": Alone(
        "a teaser is in the text, at a path where teasers recurred on earlier pages",
        said(("teaser", "new"), 8),
        Kind.REPEATED_PATH,
        article("p", teaser("new")),
        [article(n, teaser(n % 3)) for n in range(60)],
    ),
    "links": Alone(
        "a list of links is in the text, at a path where every earlier page had one",
        said(("p", "link", 1), 6),
        Kind.LINK_LIST,
        article("p", links("p")),
        [article(n, links(n)) for n in range(5)],
    ),
    "next-article": Alone(
        "another article follows in its own element, which has the same structure",
        f"{REMARK}, too",
        Kind.NEXT_ARTICLE,
        article(
            "p", f"<div><p>{REMARK}</p></div><div><h1>{said('q', 5)}</h1><p>{REMARK}, too</div>"
        ),
    ),
    "main": Alone(
        "a paragraph about the paper stands beside the article",
        REMARK,
        Kind.OUTSIDE_MAIN,
        article("p", beside=f"<div class=b1><p>{REMARK}</p></div>"),
    ),
    "outside": Alone(
        "a line with few words stands beside the article",
        said("few", 4),
        Kind.OUTSIDE_MAIN,
        article("p", beside=f"<div class=b1><p>{said('few', 4)}</p></div>"),
    ),
    "votes": Alone(
        "comments are longer than the article, which is at its usual path",
        said("short", 9),
        Kind.CONTENT,
        f"<div class=a1><p>{said('short', 9)}</p></div><div class=c1>{REMARKS}</div>",
        [article(n) for n in range(6)],
        Kind.OUTSIDE_MAIN,
    ),
    "title": Alone(
        "the title stands above the main element, in a block of its own",
        TITLE,
        Kind.CONTENT,
        f"<title>{TITLE}</title><div class=h1><h2>{TITLE}</h2></div>"
        f"<div class=a1><p>{said(1)}<p>{said(2)}</div>",
        otherwise=Kind.OUTSIDE_MAIN,
    ),
    "before-title": Alone(
        "a kicker stands above the title, in the main element",
        said("kicker", 3),
        Kind.BEFORE_TITLE,
        article("p", above=f"<p>{said('kicker', 3)}</p>"),
    ),
    "duplicate-title": Alone(
        "the title stands once more below the text",
        TITLE,
        Kind.DUPLICATE_TITLE,
        article("p", f"<p>{TITLE}</p>"),
    ),
    "no-letters": Alone(
        "a date stands behind a footer, in the middle of the text",
        "13. 5. 2013",
        Kind.BESIDE_BOILERPLATE,
        article("p", f"<footer>{REMARK}</footer><p>13. 5. 2013</p>"),
    ),
}
