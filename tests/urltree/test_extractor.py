"""The library: one Extraction for each page, in order, with the verdicts of the job."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import urltree
from urltree import Eviction, Extraction, Extractor, Page
from urltree.page import PageError, Reason

WORDS = [
    "amber",
    "birch",
    "cedar",
    "dogwood",
    "elm",
    "fir",
    "gorse",
    "hazel",
    "iris",
    "juniper",
    "kelp",
    "larch",
]
MENU = "<ul><li>Home<li>News<li>Contact</ul>"


def html(*paragraphs: str) -> str:
    """Return a page of a site: its menu, then paragraphs."""
    return f"<html><body>{MENU}{''.join(f'<p>{text}</p>' for text in paragraphs)}</body></html>"


def site(pages: int, host: str = "example.org") -> list[tuple[str, str]]:
    """Return pages of one site, each with a paragraph of its own."""
    return [(f"https://{host}/{n}", html(f"about {WORDS[n % 10]} {'x' * n}")) for n in range(pages)]


def test_what_recurs_is_left_out() -> None:
    """The menu is on each page, so the paper's heuristics drop it from the second page on."""
    texts = [extraction.text for extraction in urltree.extract(site(3), heuristic="strict")]
    assert texts == ["Home\nNews\nContact\nabout amber", "about birch x", "about cedar xx"]


def test_pages_are_read_lazily() -> None:
    """The first Extraction is returned before the second page is read."""

    def pages() -> Iterator[tuple[str, str]]:
        yield site(1)[0]
        raise AssertionError("the second page was read too early")

    assert next(urltree.extract(pages())).status == "ok"


@pytest.mark.parametrize(
    "page",
    [
        Page(url="https://example.org/a", html="<p>text"),
        {"url": "https://example.org/a", "html": "<p>text", "gold": "ignored"},
        {"url": "https://example.org/a", "html_base64": base64.b64encode(b"<p>text").decode()},
        ("https://example.org/a", "<p>text"),
        ("https://example.org/a", b"<p>text"),
    ],
)
def test_a_page_has_many_forms(page: Any) -> None:
    """A page is a Page, a mapping with the fields of raw-html, or a pair of URL and HTML.

    The HTML is text or bytes.
    """
    with Extractor() as extractor:
        extraction = extractor.extract(page)
    assert (extraction.url, extraction.text) == ("https://example.org/a", "text")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (("https://example.org/a", ""), "empty"),
        (("https://example.org/a", b"%PDF-1.7\n"), "not-html"),
        (("nonsense:", "<p>text"), "bad-url"),
        ({"url": "https://example.org/a", "html": "<p>", "status": 404}, "http-status"),
        ({"url": "https://example.org/a"}, "malformed"),
        ({"url": "https://example.org/a", "html": "<p>", "origin": 3}, "malformed"),
        (Page(url="https://example.org/a", html=3), "malformed"),  # type: ignore[arg-type]
        (PageError(Reason.MALFORMED, "line 3: no JSON"), "malformed"),
        (3, "malformed"),
        (("https://example.org/a", "x" * (10 << 20) + "x"), "too-large"),
    ],
)
def test_a_fault_of_a_page_is_a_record(page: Any, reason: str) -> None:
    """A faulty page gives an Extraction with an error, and later pages are not affected.

    The Extraction has the URL of the page if the page has one.
    """
    failed, after = urltree.extract([page, ("https://example.org/b", "<p>text")])
    assert (failed.status, failed.error, failed.text) == ("error", reason, None)
    assert failed.url in ("https://example.org/a", "nonsense:", None)
    assert failed.message
    assert (after.status, after.origin) == ("ok", "library/0/1")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"heuristic": "lenient"}, ValueError),
        ({"heuristic": 3}, TypeError),
        ({"query": "keep"}, ValueError),
        ({"rules": "/no/such/rules.yaml"}, ValueError),
        ({"eviction": 14}, TypeError),
        ({"heuristics": "strict"}, TypeError),
    ],
)
def test_a_wrong_option_is_refused_at_once(options: dict[str, Any], error: type[Exception]) -> None:
    """A wrong option raises an error before the first page is read."""
    with pytest.raises(error):
        urltree.extract([], **options)


def test_a_duplicate_names_the_first_copy_and_the_step() -> None:
    """A duplicate has the origin of the first copy, and the step that revealed the duplicate."""
    first, second = urltree.extract(
        [("https://example.org/a", "<p>x"), ("https://example.org/a?utm_source=feed", "<p>x")]
    )
    assert (second.status, second.duplicate_of, second.duplicate_step, second.id) == (
        "duplicate",
        first.origin,
        "rule",
        first.id,
    )


def test_the_same_origin_again_is_a_replay() -> None:
    """A page with a known origin returns its first result, although its site learned more since."""
    pages = [
        {"url": url, "html": text, "origin": f"t/0/{n}"} for n, (url, text) in enumerate(site(3))
    ]
    first, *_, again = urltree.extract([*pages, pages[0]])
    assert again == first


def test_a_page_without_url_is_a_domain_of_its_own() -> None:
    """A page without URL is a site of its own with an id, so it is never a duplicate."""
    one, two = urltree.extract([(None, html("text")), (None, html("text"))])
    assert one.text == two.text == "Home\nNews\nContact\ntext"
    assert one.domain == f"{one.id}.invalid" == two.domain


def test_two_passes_learn_from_all_before_they_judge() -> None:
    """With two passes later pages help to judge the first page too.

    The number and order of the results do not change.
    """
    pages = iter([*site(4), ("nonsense:", "<p>"), site(1)[0], (None, "<p>alone")])
    extractions = list(urltree.extract(pages, two_pass=True))
    assert [e.status for e in extractions] == ["ok"] * 4 + ["error", "duplicate", "ok"]
    assert [e.text for e in extractions[:2]] == ["about amber", "about birch x"]


def test_two_passes_need_all_pages() -> None:
    """With two passes a single page cannot be extracted, because all pages are read first."""
    with Extractor(two_pass=True) as extractor, pytest.raises(ValueError, match="all pages"):
        extractor.extract(site(1)[0])


def test_all_blocks_are_given_when_asked_for() -> None:
    """With `boilerplate=True` all blocks are returned, each with its verdict and count."""
    *_, last = urltree.extract(site(3), boilerplate=True)
    assert last.blocks is not None
    assert [(b.text, b.verdict, b.count) for b in last.blocks] == [
        ("Home", "boilerplate", 3),
        ("News", "boilerplate", 3),
        ("Contact", "boilerplate", 3),
        ("about cedar xx", "content", 1),
    ]


def test_lone_surrogates_are_replaced_everywhere() -> None:
    """Lone surrogates are replaced in every field, so that Extractions can be written as UTF-8."""
    page = {"url": "https://example.org/\ud800", "html": "<p>a\udc00", "meta": {"\ud800": "\ud800"}}
    extraction = next(urltree.extract([page]))
    assert (extraction.text, dict(extraction.meta)) == ("a\ufffd", {"\ufffd": "\ufffd"})
    str(extraction).encode()


PAGES = st.lists(
    st.fixed_dictionaries(
        {
            "url": st.builds(
                "https://{}/{}/{}".format,
                st.sampled_from(["a.example", "b.example", "c.example"]),
                st.sampled_from("xy"),
                st.integers(0, 9),
            ),
            "html": st.lists(st.sampled_from(WORDS), max_size=6).map(lambda w: html(*w)),
            "published": st.one_of(
                st.none(), st.builds("2013-{:02}-01T00:00:00Z".format, st.integers(1, 12))
            ),
        }
    ),
    max_size=40,
)
OPTIONS: dict[str, Any] = {"eviction": Eviction(max_documents=8, keep=5), "boilerplate": True}


@given(pages=PAGES, cuts=st.sets(st.integers(0, 40), max_size=4))
@settings(max_examples=50, deadline=None)
def test_spills_and_reloads_change_nothing(pages: list[dict[str, Any]], cuts: set[int]) -> None:
    """The Extractions stay the same if sites are saved to disk and loaded at any point."""
    in_memory = list(urltree.extract(pages, **OPTIONS))
    with TemporaryDirectory() as state:
        bounds = sorted({0, len(pages), *(cut for cut in cuts if cut < len(pages))})
        reloaded: list[Extraction] = []
        for begin, end in pairwise(bounds):
            reloaded += urltree.extract(pages[begin:end], state=state, memory=0, **OPTIONS)
    assert reloaded == in_memory


def test_a_state_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Pages of an earlier run are duplicates in the next run, which continues the origins."""
    first = list(urltree.extract(site(3), state=tmp_path))
    again = list(urltree.extract(site(4), state=tmp_path))
    assert [e.duplicate_of for e in again] == [*(e.origin for e in first), None]
    assert [e.origin for e in again] == [f"library/0/{n}" for n in range(3, 7)]
    assert again[3].text == "about dogwood xxx"


def test_what_two_passes_said_is_said_again(tmp_path: Path) -> None:
    """A replay after a two-pass run returns the second verdict, which was the published one."""
    page = {"url": site(1)[0][0], "html": site(1)[0][1], "origin": "t/0/0"}
    first = next(urltree.extract([page, *site(5)[1:]], two_pass=True, state=tmp_path))
    assert next(urltree.extract([page], state=tmp_path)) == first


def test_an_interrupted_page_leaves_its_domain_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C while a page is learned, the tree of its site is rebuilt from the rows."""
    from urltree.site.site import Site  # noqa: PLC0415 - the place that is interrupted

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with Extractor() as extractor:
        for page in site(3):
            extractor.extract(page)
        with monkeypatch.context() as interrupted:
            interrupted.setattr(Site, "_evict", interrupt)
            with pytest.raises(KeyboardInterrupt):
                extractor.extract(site(4)[3])
        after = extractor.extract(site(5)[4])
    assert (after.text, after.support) == ("about elm xxxx", 4)
