"""First pages: they are stored, judged again when a site has 20 documents, and then deleted."""

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
    """Return a page with a banner and its own text; the page number is the hour of its date."""
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
    """The stored records of a site, and its published verdicts in order."""

    eviction: Eviction | None = None
    name: str = DEFAULT
    revise: bool = True
    rows: dict[bytes, bytes] = field(default_factory=dict)
    kept: dict[bytes, bytes] = field(default_factory=dict)
    said: list[tuple[str, Verdict]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rebuild()

    def rebuild(self) -> None:
        """Rebuild the site from the stored records."""
        self.domain = Site(heuristic(self.name), self.eviction, revise=self.revise)
        for stale in self.domain.rebuild(self.rows.items()):
            del self.rows[stale]
        sizes = [(document_id, len(packed)) for document_id, packed in self.kept.items()]
        for dropped in self.domain.first.recall(sizes, self.domain.__contains__):
            del self.kept[dropped]

    def learn(self, *pages: Document) -> None:
        """Learn pages; after each page judge again the first pages that are due."""
        for each in pages:
            self.learn_only(each)
            self.revise_due()

    def learn_only(self, each: Document) -> Learned:
        """Learn a page but judge no first page again, as if the process died before it could."""
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
        """Judge again the first pages that are due, and delete their stored documents."""
        for document_id in self.domain.first.due(len(self.domain.tree)):
            packed, row = unpack(self.kept[document_id]), self.rows.get(document_id)
            revision = self.domain.first.revise(packed, decoded(row), self.domain.judge)
            if revision is not None:
                self.rows[document_id] = revision.row
                if revision.verdict is not None:
                    self.said.append((packed.id, revision.verdict))
            del self.kept[document_id]

    def row(self, number: int) -> Row:
        """Return the row of a page."""
        return Row.decode(self.rows[page(number).key_bytes])

    def revised(self) -> set[int]:
        """Return the numbers of the pages that were published as revision 1."""
        return {int(document_id, 16) for document_id, verdict in self.said if verdict.revision}


def pages(first: int, last: int) -> list[Document]:
    """Return the pages of one site from number `first` to number `last`."""
    return [page(number) for number in range(first, last + 1)]


def test_the_twentieth_page_revises_those_whose_text_changes() -> None:
    """When page 20 arrives, all first pages are judged again.

    A page is published again only if its text changes. Page 1 loses the banner, which no other page
    had repeated when page 1 was judged first.
    """
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
    """Pages after the 20th are judged only once, so their documents are not stored."""
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
    """Without revision no document is stored, no row waits, and each page is published once."""
    site.learn(*pages(1, ENOUGH))
    assert (site.kept, site.revised()) == ({}, set())
    assert not any(Row.decode(row).waits for row in site.rows.values())


def test_a_replay_says_the_revision() -> None:
    """A replay of a revised page returns the second verdict, even if revision is switched off."""
    site = StoredSite()
    site.learn(*pages(1, ENOUGH))
    site.revise = False
    site.rebuild()
    site.learn(page(1))
    document_id, verdict = site.said[-1]
    assert (int(document_id, 16), verdict) == (1, site.row(1).revised)


def test_what_a_document_contributes_stays_that_of_its_first_verdict() -> None:
    """A second verdict does not change what its document contributes to the path statistics.

    Therefore the order in which first pages are judged again does not matter.
    """
    site = StoredSite()
    site.learn(*pages(1, ENOUGH - 1))
    before = [site.row(number).paths for number in range(1, ENOUGH)]
    site.learn(page(ENOUGH))
    assert [site.row(number).paths for number in range(1, ENOUGH)] == before


@pytest.mark.parametrize("half_way", range(0, ENOUGH, 3))
def test_a_crash_half_way_through_changes_nothing(half_way: int) -> None:
    """A crash between two revisions changes neither the rows nor the published verdicts.

    Page 20 is delivered again: pages with a second verdict repeat this verdict, and others are
    judged again.
    """
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
    site.kept = kept  # no document was deleted, because Kafka had not confirmed
    site.rebuild()
    site.learn(page(ENOUGH))
    assert (site.rows, site.kept) == (calm.rows, {})
    assert set(map(repr, site.said)) == set(map(repr, calm.said))


def test_a_replay_is_kept_again() -> None:
    """A replay of a first page stores its document again, because a crash may have lost it.

    The page is then judged again as usual.
    """
    site = StoredSite()
    site.learn(*pages(1, 5))
    site.kept.clear()
    site.rebuild()
    site.learn(*pages(1, ENOUGH))
    calm = StoredSite()
    calm.learn(*pages(1, ENOUGH))
    assert (site.rows, site.kept, site.revised()) == (calm.rows, {}, calm.revised())


def test_a_page_that_left_the_window_is_kept_no_longer() -> None:
    """When a first page leaves the window, its row and its stored document are deleted."""
    site = StoredSite(Eviction(max_age=DAY // 6, keep=5))
    site.learn(*pages(1, 15))
    assert site.kept.keys() == site.rows.keys()
    assert len(site.kept) == 9  # the newest 5 pages, and 4 that are at most 4 hours older


def test_what_is_kept_without_its_row_is_dropped() -> None:
    """A rebuild deletes a stored document that has no row.

    A crash after the row is deleted, and before the document is, leaves such a document.
    """
    site = StoredSite()
    site.learn(*pages(1, 3))
    site.kept[page(9).key_bytes] = pack(page(9))
    site.rebuild()
    assert site.kept.keys() == site.rows.keys()


def test_a_replacement_is_kept_instead_of_what_it_replaces() -> None:
    """A replacement is stored in place of the former version of the document.

    If a crash leaves the former version stored, that version is deleted, not judged again.
    """
    site = StoredSite()
    site.learn(page(1))
    older = site.kept[page(1).key_bytes]
    site.learn(page(1, origin="raw-html/0/99"), *pages(2, ENOUGH - 1))
    assert unpack(site.kept[page(1).key_bytes]).origin == "raw-html/0/99"
    site.kept[page(1).key_bytes] = older
    site.learn(page(ENOUGH))
    assert (site.row(1).revised, site.kept) == (None, {})


def test_a_domain_keeps_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """A site stores at most MAX_BYTES of first pages; pages beyond that are judged only once."""
    monkeypatch.setattr(first_pages, "MAX_BYTES", len(pack(page(1))) + 10)
    site = StoredSite()
    site.learn(*pages(1, ENOUGH - 1))
    assert site.kept.keys() == {page(1).key_bytes}
    site.learn(page(ENOUGH))
    assert site.revised() == {1}
    assert site.row(2).revised is None


def test_a_document_of_another_tokenizer_is_not_kept() -> None:
    """A document of another tokenizer is not stored, because its hashes cannot be compared."""
    site = StoredSite()
    assert site.learn_only(replace(page(1), tokenizer=TOKENIZER_VERSION + 1)).kept is None
    assert site.kept == {}
