"""A domain's first pages are kept, judged again at 20, and kept no longer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from tests.urltree.builders import decoded, document
from urltree.document import Document, kept_text
from urltree.heuristics.protocol import Verdict
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site import first_pages
from urltree.site.first_pages import ENOUGH
from urltree.site.packed_document import pack, unpack
from urltree.site.row import Row
from urltree.site.site import Learned, Site
from urltree.tree.window import DAY, Eviction

BANNER = 7


def page(number: int, *, origin: str | None = None) -> Document:
    """A page with a banner and text of its own, an hour after the one before."""
    made = document(
        number,
        [BANNER, 1000 + number],
        origin=origin,
        published=f"2026-01-01T{number:02d}:00:00Z",
    )
    longer = [b._replace(text=f"{b.text} has a sentence of eight words.") for b in made.blocks]
    return replace(made, blocks=tuple(longer))


@dataclass
class StoredSite:
    """What a caller stores of a domain, and what it has published, in order."""

    eviction: Eviction | None = None
    name: str = DEFAULT
    revise: bool = True
    rows: dict[bytes, bytes] = field(default_factory=dict)
    kept: dict[bytes, bytes] = field(default_factory=dict)
    said: list[tuple[str, Verdict]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rebuild()

    def rebuild(self) -> None:
        """Make the domain again from what is stored."""
        self.domain = Site(heuristic(self.name), self.eviction, revise=self.revise)
        for stale in self.domain.rebuild(self.rows.items()):
            del self.rows[stale]
        sizes = [(document_id, len(packed)) for document_id, packed in self.kept.items()]
        for dropped in self.domain.first.recall(sizes, self.domain.__contains__):
            del self.kept[dropped]

    def learn(self, *pages: Document) -> None:
        """Learn pages, and revise what is due after each."""
        for each in pages:
            self.learn_only(each)
            self.revise_due()

    def learn_only(self, each: Document) -> Learned:
        """Learn a page, as if the process died before it revised."""
        lesson = self.domain.learn(each, decoded(self.rows.get(each.key_bytes)))
        self.rows[each.key_bytes] = lesson.row
        for evicted in lesson.evicted:
            del self.rows[evicted]
        if lesson.kept is not None:
            self.kept[each.key_bytes] = lesson.kept
        for dropped in lesson.dropped:
            del self.kept[dropped]
        self.said.append((each.id, lesson.verdict))
        return lesson

    def revise_due(self) -> None:
        """Judge again what is due."""
        for document_id in self.domain.first.due(len(self.domain.tree)):
            packed, row = unpack(self.kept[document_id]), self.rows.get(document_id)
            revision = self.domain.first.revise(packed, decoded(row), self.domain.judge)
            if revision is not None:
                self.rows[document_id] = revision.row
                if revision.verdict is not None:
                    self.said.append((packed.id, revision.verdict))
            del self.kept[document_id]

    def row(self, number: int) -> Row:
        """The row of a page."""
        return Row.decode(self.rows[page(number).key_bytes])

    def revised(self) -> set[int]:
        """Numbers of the pages that were published as revision 1."""
        return {int(document_id, 16) for document_id, verdict in self.said if verdict.revision}


def pages(first: int, last: int) -> list[Document]:
    """Pages of one site."""
    return [page(number) for number in range(first, last + 1)]


def test_the_twentieth_page_revises_those_whose_text_changes() -> None:
    """On the first two nobody knew the banner yet; the others said before what they would now."""
    site = StoredSite()
    site.learn(*pages(1, ENOUGH - 1))
    assert (len(site.kept), site.revised()) == (ENOUGH - 1, set())
    assert all(site.row(number).waits for number in range(1, ENOUGH))
    site.learn(page(ENOUGH))
    assert site.kept == {}
    first = site.row(1)
    assert 1 in site.revised()
    assert first.verdict.boilerplate == (False, False)
    assert first.revised is not None
    assert (first.revised.boilerplate, first.revised.support) == ((True, False), ENOUGH)
    unchanged = site.row(ENOUGH - 1)
    assert (unchanged.waits, unchanged.revised) == (False, None)
    for number in site.revised():
        row = site.row(number)
        texts = [
            kept_text(page(number), each.boilerplate) for each in (row.verdict, row.last_verdict)
        ]
        assert texts[0] != texts[1]


def test_later_pages_are_never_kept() -> None:
    """Judged again later, nothing changes: the table stays empty."""
    site = StoredSite()
    site.learn(*pages(1, ENOUGH))
    before = len(site.said)
    for each in pages(ENOUGH + 1, ENOUGH + 3):
        assert site.learn_only(each).kept is None
    site.revise_due()
    assert len(site.said) == before + 3


@pytest.mark.parametrize(
    "site",
    [
        pytest.param(StoredSite(name="strict"), id="a heuristic of the paper"),
        pytest.param(StoredSite(revise=False), id="switched off"),
        pytest.param(StoredSite(Eviction(max_documents=10, keep=5)), id="never enough are known"),
    ],
)
def test_nothing_is_kept_where_nothing_is_revised(site: Site) -> None:
    """Rows have the bytes that they had, and each page is said once."""
    site.learn(*pages(1, ENOUGH))
    assert (site.kept, site.revised()) == ({}, set())
    assert not any(Row.decode(row).waits for row in site.rows.values())


def test_a_replay_says_the_revision() -> None:
    """The first verdict never comes behind the second one, under whatever settings."""
    site = StoredSite()
    site.learn(*pages(1, ENOUGH))
    site.revise = False
    site.rebuild()
    site.learn(page(1))
    document_id, verdict = site.said[-1]
    assert (int(document_id, 16), verdict) == (1, site.row(1).revised)


def test_what_a_document_contributes_stays_that_of_its_first_verdict() -> None:
    """So that all first pages are judged by the same, in whatever order."""
    site = StoredSite()
    site.learn(*pages(1, ENOUGH - 1))
    before = [site.row(number).paths for number in range(1, ENOUGH)]
    site.learn(page(ENOUGH))
    assert [site.row(number).paths for number in range(1, ENOUGH)] == before


@pytest.mark.parametrize("half_way", range(0, ENOUGH, 3))
def test_a_crash_half_way_through_changes_nothing(half_way: int) -> None:
    """The 20th page is delivered again: what was revised says the same, the rest is revised."""
    calm, site = StoredSite(), StoredSite()
    calm.learn(*pages(1, ENOUGH))
    site.learn(*pages(1, ENOUGH - 1))
    site.learn_only(page(ENOUGH))
    kept = dict(site.kept)
    for document_id in site.domain.first.due(ENOUGH)[:half_way]:
        packed = unpack(site.kept[document_id])
        revision = site.domain.first.revise(
            packed, decoded(site.rows[document_id]), site.domain.judge
        )
        assert revision is not None
        site.rows[document_id] = revision.row
    site.kept = kept  # none was dropped, for Kafka had not confirmed
    site.rebuild()
    site.learn(page(ENOUGH))
    assert (site.rows, site.kept) == (calm.rows, {})
    assert set(map(repr, site.said)) == set(map(repr, calm.said))


def test_a_replay_is_kept_again() -> None:
    """What was put before a crash may not have reached Kafka; it is revised all the same."""
    site = StoredSite()
    site.learn(*pages(1, 5))
    site.kept.clear()
    site.rebuild()
    site.learn(*pages(1, ENOUGH))
    calm = StoredSite()
    calm.learn(*pages(1, ENOUGH))
    assert (site.rows, site.kept, site.revised()) == (calm.rows, {}, calm.revised())


def test_a_page_that_left_the_window_is_kept_no_longer() -> None:
    """Its row is deleted, and with it what was kept of it."""
    site = StoredSite(Eviction(max_age=DAY // 6, keep=5))
    site.learn(*pages(1, 15))
    assert site.kept.keys() == site.rows.keys()
    assert len(site.kept) == 9  # the newest five, and those of four hours before the fifth


def test_what_is_kept_without_its_row_is_dropped() -> None:
    """A crash came between the two tombstones of an evicted page."""
    site = StoredSite()
    site.learn(*pages(1, 3))
    site.kept[page(9).key_bytes] = pack(page(9))
    site.rebuild()
    assert site.kept.keys() == site.rows.keys()


def test_a_replacement_is_kept_instead_of_what_it_replaces() -> None:
    """And that is what is revised; an older version left behind by a crash is dropped."""
    site = StoredSite()
    site.learn(page(1))
    older = site.kept[page(1).key_bytes]
    site.learn(page(1, origin="raw-html/0/99"), *pages(2, ENOUGH - 1))
    assert unpack(site.kept[page(1).key_bytes]).origin == "raw-html/0/99"
    site.kept[page(1).key_bytes] = older
    site.learn(page(ENOUGH))
    assert (site.row(1).revised, site.kept) == (None, {})


def test_a_domain_keeps_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes beyond is not revised; the rest is."""
    monkeypatch.setattr(first_pages, "MAX_BYTES", len(pack(page(1))) + 10)
    site = StoredSite()
    site.learn(*pages(1, ENOUGH - 1))
    assert site.kept.keys() == {page(1).key_bytes}
    site.learn(page(ENOUGH))
    assert site.revised() == {1}
    assert site.row(2).revised is None


def test_a_document_of_another_tokenizer_is_not_kept() -> None:
    """Its hashes compare with nothing that the domain learns."""
    site = StoredSite()
    assert site.learn_only(replace(page(1), tokenizer=TOKENIZER_VERSION + 1)).kept is None
    assert site.kept == {}
