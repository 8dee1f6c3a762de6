"""Full text from a feed: it is published with all its blocks, and no page is judged by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import urltree
from tests.urltree.builders import decoded, document, nodes
from tests.urltree.listings import HOST, NAMES, article, front
from urltree import Eviction, Extractor, Page
from urltree.document import Document
from urltree.heuristics.protocol import NOT_JUDGED
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.heuristics.registry import NAMES as HEURISTICS
from urltree.site.first_pages import ENOUGH
from urltree.site.row import ROW_VERSION, Row
from urltree.site.site import Site
from urltree.site.state_directory import StateDirectory

URL = "https://example.org/{}"
WORDS = ("amber", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel")
IMPRINT = "Imprint and contact of this paper, which stands below every page."


def page(number: int, text: str, day: int, **fields: Any) -> dict[str, Any]:
    """Return the fields of a page with its own origin."""
    return {
        "url": URL.format(number),
        "html": f"<p>{IMPRINT}<p>{text}",
        "fetched_at": f"2026-01-{1 + day % 28:02}T00:00:00Z",
        "origin": f"t/0/{day}",
        **fields,
    }


def full(number: int, text: str, day: int, **fields: Any) -> dict[str, Any]:
    """Return the fields of a page whose full text comes from a feed."""
    return page(number, text, day, content_from="feed", **fields)


def stored(state: str | Path, domain: str = "example.org") -> dict[bytes, bytes]:
    """Return the rows of a site in a state directory."""
    opened = StateDirectory(state)
    try:
        return opened.load(domain).rows
    finally:
        opened.close()


def learned(rows: dict[bytes, bytes], eviction: Eviction | None = None) -> object:
    """Return everything that a site rebuilt from these rows knows about its pages."""
    site = Site(heuristic(DEFAULT), eviction)
    site.rebuild(rows.items())
    return nodes(site.tree.root), list(site.window), site.paths.mains, len(site.tree)


def test_every_block_of_a_full_text_is_published() -> None:
    """The text has all blocks, even those that repeat on every page, and says where it is from."""
    pages = [page(n, f"Text {word}.", n) for n, word in enumerate(WORDS)]
    said = list(urltree.extract([*pages, full(99, "Full text.", 9)], boilerplate=True))
    assert said[-2].text == "Text hazel."
    assert (said[-2].content_from, said[-2].support) == (None, 8)
    text = said[-1]
    assert text.text == f"{IMPRINT}\nFull text."
    assert (text.content_from, text.node, text.support) == ("feed", "example.org", 0)
    assert (text.heuristic, text.versions) == ("none", {"tokenizer": 1, "key": 1, "heuristic": 1})
    assert (text.page_kind, text.status, text.revision) == (None, "ok", 0)
    assert text.blocks is not None
    assert [block.verdict for block in text.blocks] == ["content", "content"]


def test_no_heuristic_has_the_name_of_the_verdict_without_one() -> None:
    """Rows recognise documents that are not judged by this name, so no heuristic may have it."""
    assert NOT_JUDGED not in HEURISTICS
    with pytest.raises(ValueError, match=NOT_JUDGED):
        heuristic(NOT_JUDGED)


def test_a_full_text_is_deduplicated_as_any_page() -> None:
    """A full text and the page at its address are duplicates, whichever comes first."""
    pages = [full(1, "One.", 1), page(1, "One.", 2), page(2, "Two.", 3), full(2, "Two.", 4)]
    assert [said.status for said in urltree.extract(pages)] == ["ok", "duplicate"] * 2


def test_a_page_without_url_may_be_a_full_text() -> None:
    """A full text without URL keeps all its blocks, as with a URL."""
    (said,) = urltree.extract([Page(url=None, html="<p>All of it.", content_from="feed")])
    assert (said.text, said.content_from, said.support) == ("All of it.", "feed", 0)


TEXTS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(WORDS), st.booleans()), max_size=40)
EVICTIONS = st.sampled_from([None, Eviction(max_documents=9, keep=5), Eviction(max_age=1, keep=5)])


@given(texts=TEXTS, eviction=EVICTIONS, revise=st.booleans(), memory=st.sampled_from([0, 1 << 20]))
@settings(max_examples=80, deadline=None)
def test_pages_are_judged_as_without_full_texts(
    texts: list[tuple[int, str, bool]], eviction: Eviction | None, revise: bool, memory: int
) -> None:
    """Trees, windows, verdicts and revisions of pages are equal with and without full texts.

    This also holds if the site is rebuilt from its rows before each page (`memory` is 0).
    """
    given_pages = [
        (full if is_full else page)(number + 100 * is_full, word, at)
        for at, (number, word, is_full) in enumerate(texts)
    ]
    pages = [one for one in given_pages if "content_from" not in one]
    options: dict[str, Any] = {"eviction": eviction, "revise": revise, "revisits": "replace"}
    with TemporaryDirectory() as with_full, TemporaryDirectory() as without:
        found = list(urltree.extract(given_pages, state=with_full, memory=memory, **options))
        expected = list(urltree.extract(pages, state=without, **options))
        assert learned(stored(with_full), eviction) == learned(stored(without), eviction)
    full_texts = [one for one in found if one.url and int(one.url.rsplit("/", 1)[1]) >= 100]
    assert [one for one in found if one not in full_texts] == expected
    assert {one.text for one in full_texts} <= {None, *(f"{IMPRINT}\n{word}" for word in WORDS)}


def test_full_texts_keep_no_listing_in_the_tree(tmp_path: Path) -> None:
    """At most half of the pages are left out as listings; full texts do not count in this half."""
    articles = [(f"{HOST}/{name}", article(name)) for name in NAMES[:4]]
    listings = [(f"{HOST}/front-{n}", front(NAMES[n : n + 9], f"Section {n}")) for n in range(5)]
    full_texts = [Page(url=f"{HOST}/f{n}", html="<p>Text", content_from="feed") for n in range(9)]
    pages = [*articles, *listings]
    list(urltree.extract(pages, state=tmp_path / "a"))
    list(urltree.extract([*articles, *full_texts, *listings], state=tmp_path / "b"))
    alone, mixed = stored(tmp_path / "a", "news.example"), stored(tmp_path / "b", "news.example")
    assert {Row.decode(row).left_out for row in alone.values()} == {True, False}
    assert {key: Row.decode(mixed[key]).left_out for key in alone} == {
        key: Row.decode(row).left_out for key, row in alone.items()
    }


def test_full_texts_have_a_bounded_number_of_rows() -> None:
    """The window of full texts has the limits of the other window, and evicts no page."""
    with Extractor(eviction=Eviction(max_documents=6, keep=5)) as extractor:
        pages = [page(n, f"Text {n}.", n) for n in range(3)]
        for one in [*pages, *(full(100 + n, f"Full {n}.", 3 + n) for n in range(20))]:
            extractor.extract(one)
        site = extractor._sites.use("example.org")
        judged = [Row.decode(row).is_judged for row in site.records.rows.values()]
    assert (judged.count(True), judged.count(False)) == (3, 6)


def test_a_replay_repeats_the_first_result() -> None:
    """All pages delivered again give the same extractions and leave the same rows."""
    pages = [page(1, "One.", 1), full(101, "Full.", 2), page(2, "Two.", 3), full(102, "More.", 4)]
    with Extractor() as extractor:
        first = [extractor.extract(one) for one in pages]
        rows = dict(extractor._sites.use("example.org").records.rows)
        assert [extractor.extract(one) for one in pages] == first
        assert extractor._sites.use("example.org").records.rows == rows


def test_a_document_that_a_former_release_judged_keeps_its_verdict() -> None:
    """A replay repeats the verdict of a release that ignored the field `content_from`."""
    site = Site(heuristic("strict-at-domain"), None)
    rows: dict[bytes, bytes] = {}
    for number in (1, 2):
        row = site.learn(document(number, [7]), None).row
        rows[document(number, [7]).key_bytes] = row
    again = _from_feed(2, [7])
    found = site.learn(again, decoded(rows[again.key_bytes]))
    assert (found.verdict.boilerplate, found.row) == ((True,), rows[again.key_bytes])


@pytest.mark.parametrize("is_first", [True, False])
def test_a_revisit_may_change_between_page_and_full_text(is_first: bool) -> None:
    """A full text that replaces a page takes the page out of the tree, and the other way round."""
    versions = [page(1, "Old.", 1), full(1, "New.", 2)]
    if is_first:
        versions = [full(1, "Old.", 1), page(1, "New.", 2)]
    others = [page(2, "Two.", 3)]
    with TemporaryDirectory() as both, TemporaryDirectory() as last:
        said = list(urltree.extract([*versions, *others], state=both, revisits="replace"))
        list(urltree.extract([versions[1], *others], state=last, revisits="replace"))
        assert learned(stored(both)) == learned(stored(last))
        assert stored(both).keys() == stored(last).keys()
    assert [one.text for one in said[:2]] == [f"{IMPRINT}\nOld.", f"{IMPRINT}\nNew."]


def test_an_older_version_does_not_come_back() -> None:
    """A page that was replaced by a full text is a superseded duplicate when it comes again."""
    versions = [page(1, "Old.", 1), full(1, "New.", 2), full(1, "Newer.", 3)]
    with Extractor(revisits="replace") as extractor:
        first = [extractor.extract(one) for one in versions]
        again = [extractor.extract(one) for one in versions]
    assert [one.status for one in first] == ["ok"] * 3
    assert [one.duplicate_step for one in again] == ["superseded", "superseded", None]
    assert again[2] == first[2]


def test_a_first_page_that_a_full_text_replaced_is_not_revised() -> None:
    """The revision of the first pages does not publish the text that a full text has replaced."""
    versions = [page(1, "Old.", 0), full(1, "New.", 1)]
    others = [page(n, f"Text {n}.", n) for n in range(2, ENOUGH + 3)]
    with Extractor(revisits="replace", revise=True) as extractor:
        said = list(extractor.extract_all([*versions, *others]))
    texts = [one.text for one in said if one.url == URL.format(1)]
    assert texts == [f"{IMPRINT}\nOld.", f"{IMPRINT}\nNew."]
    assert any(one.revision for one in said)


def test_two_passes_keep_every_block_of_a_full_text() -> None:
    """The second pass of `two_pass` judges the pages alone."""
    pages = [full(9, "Full.", 0), *(page(n, WORDS[n], n) for n in range(1, 5))]
    with TemporaryDirectory() as state:
        said = list(urltree.extract(pages, two_pass=True, state=state))
    assert said[0].text == f"{IMPRINT}\nFull."
    assert [one.text for one in said[1:]] == list(WORDS[1:5])


def test_a_former_release_reads_the_row_as_that_of_a_listing() -> None:
    """The row keeps its version; its flags and hashes keep it out of a former release's tree."""
    site = Site(heuristic(DEFAULT), None)
    row = Row.decode(site.learn(_from_feed(1, [7, 8]), None).row)
    assert site.learn(_from_feed(2, [7]), None).row[0] == ROW_VERSION == 1
    assert (row.left_out, list(row.hashes), row.paths, row.waits) == (True, [], b"", False)
    assert (row.is_judged, row.verdict.support, row.verdict.boilerplate) == (
        False,
        0,
        (False, False),
    )


def _from_feed(number: int, hashes: list[int]) -> Document:
    """Return a document of these blocks whose text comes from a feed."""
    return replace(document(number, hashes), content_from="feed")
