"""The verdicts of a site, and how replays, replacements, evictions and rebuilds affect it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.builders import decoded, document, nodes, text_block
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.row import Row, RowError
from urltree.site.site import Learned, Relation, Site
from urltree.tree.window import DAY, Eviction

AT_DOMAIN = heuristic("strict-at-domain")
DAY_1, DAY_2, DAY_99 = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-04-09T00:00:00Z")


class Stored:
    """A site together with its stored rows."""

    def __init__(self, eviction: Eviction | None = None, *, keep_counts: bool = False) -> None:
        self.domain = Site(AT_DOMAIN, eviction, keep_counts=keep_counts)
        self.rows: dict[bytes, bytes] = {}

    def learn(self, page: Document) -> Learned:
        """Learn a document; store its row and delete the evicted rows, as a caller must."""
        lesson = self.domain.learn(page, decoded(self.rows.get(page.key_bytes)))
        self.rows[page.key_bytes] = lesson.row
        for document_id in lesson.evicted:
            del self.rows[document_id]
        return lesson


def test_a_document_counts_before_it_is_judged() -> None:
    """A document is counted before it is judged (paper, section 4).

    A block that no other page has gets c = 1, and a block that one earlier page has gets c = 2.
    """
    stored = Stored(keep_counts=True)
    assert stored.learn(document(1, [7, 8])).verdict.boilerplate == (False, False)
    lesson = stored.learn(document(2, [7, 9, 9]))
    assert lesson.relation is Relation.NEW
    assert lesson.verdict.boilerplate == (True, False, False)
    assert lesson.verdict.counts == (2, 1, 1)
    assert (lesson.verdict.depth, lesson.verdict.support) == (0, 2)


def test_a_replay_says_again_what_was_said_first() -> None:
    """A replay returns the first verdict, even if the site would now judge the page differently."""
    stored = Stored()
    first = stored.learn(document(1, [7]))
    stored.learn(document(2, [7]))
    again = stored.learn(document(1, [7]))
    assert (again.relation, again.verdict, again.row) == (Relation.REPLAY, first.verdict, first.row)
    assert again.verdict.boilerplate == (False,)
    assert stored.domain.judge(document(1, [7])).boilerplate == (True,)


def test_a_replay_says_it_again_under_another_heuristic() -> None:
    """A replay returns the published verdict even after the heuristic was changed."""
    stored = Stored()
    first = stored.learn(document(1, [7]))
    domain = Site(heuristic("strict"), None)
    domain.rebuild(stored.rows.items())
    assert domain.learn(document(1, [7]), Row.decode(first.row)).verdict == first.verdict


def test_a_replay_with_other_blocks_is_judged_anew_in_its_old_place() -> None:
    """A replay with other blocks is judged again, and its new blocks replace the former ones.

    The page has no date, so it keeps the time in its row and does not become the newest page.
    """
    stored = Stored()
    stored.learn(document(1, [7], published=DAY_1))
    stored.learn(document(2, [7]))
    stored.learn(document(3, [8], published=DAY_2))
    lesson = stored.learn(document(2, [8, 8]))
    assert lesson.relation is Relation.REPLAY
    assert lesson.verdict.boilerplate == (True, True)
    assert nodes(stored.domain.tree.root) == {(): (3, {7: 1, 8: 2})}
    assert [document_id[-1] for _, document_id in stored.domain.window] == [1, 2, 3]


def test_the_same_hashes_in_another_order_are_other_blocks() -> None:
    """A replay with its blocks in another order is judged again.

    The stored verdict has one bit for each block, in the order of the blocks.
    """
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7, 8]))
    assert stored.learn(document(2, [8, 7])).verdict.boilerplate == (False, True)


def test_a_replacement_takes_the_place_of_what_it_replaces() -> None:
    """A document with a known id and another origin replaces the former document.

    The former blocks are subtracted from the tree; the new ones are inserted and judged.
    """
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7]))
    lesson = stored.learn(document(1, [7], origin="raw-html/0/99"))
    assert (lesson.relation, lesson.verdict.boilerplate) == (Relation.REPLACEMENT, (True,))
    assert nodes(stored.domain.tree.root) == {(): (2, {7: 2})}


def test_an_old_page_is_judged_anew_and_evicted_however_often_it_comes() -> None:
    """A page that is older than the window is judged and evicted at each delivery.

    Its row is stored and deleted again, and the tree does not change.
    """
    stored = Stored(Eviction(max_age=DAY, keep=5))
    for number in range(2, 8):
        stored.learn(document(number, [7], published=DAY_99))
    before = nodes(stored.domain.tree.root)
    old = document(1, [7, 8], published=DAY_1)
    for _ in range(3):
        lesson = stored.learn(old)
        assert (lesson.relation, lesson.evicted) == (Relation.NEW, (old.key_bytes,))
        assert lesson.verdict.boilerplate == (True, False)
        assert nodes(stored.domain.tree.root) == before
    assert old.key_bytes not in stored.rows


def test_a_rebuild_enforces_the_window_before_the_first_verdict() -> None:
    """A rebuild does not count a row that is outside the window, and returns the row's id.

    A crash before the deletion of an evicted row leaves such a row behind.
    """
    eviction = Eviction(max_age=DAY, keep=5)
    stored = Stored(eviction)
    left_behind = Stored().learn(document(1, [7], published=DAY_1)).row
    for number in range(2, 8):
        stored.learn(document(number, [8], published=DAY_99))
    domain = Site(AT_DOMAIN, eviction)
    id_1 = document(1, []).key_bytes
    assert domain.rebuild({id_1: left_behind, **stored.rows}.items()) == [id_1]
    assert nodes(domain.tree.root) == nodes(stored.domain.tree.root)


@pytest.mark.parametrize(
    ("tokenizer", "deleted"),
    [
        pytest.param(TOKENIZER_VERSION - 1, [document(1, []).key_bytes], id="older: deleted"),
        pytest.param(TOKENIZER_VERSION + 1, [], id="newer: not deleted"),
    ],
)
def test_rows_of_another_tokenizer_count_nowhere(tokenizer: int, deleted: list[bytes]) -> None:
    """Rows of another tokenizer are not counted, because their hashes cannot be compared.

    A rebuild returns the ids of rows of an older tokenizer, so that the caller deletes them.
    """
    stored = Stored()
    stored.learn(replace(document(1, [7]), tokenizer=tokenizer))
    stored.learn(document(2, [8]))
    domain = Site(AT_DOMAIN, None)
    assert domain.rebuild(stored.rows.items()) == deleted
    assert nodes(domain.tree.root) == {(): (1, {8: 1})}


def test_a_document_of_another_tokenizer_is_judged_as_a_first_page() -> None:
    """A document of another tokenizer is judged as the first page of a site and is not counted.

    Such a document was in flight during an upgrade. A replay returns the same verdict.
    """
    stored = Stored()
    stored.learn(document(1, [7]))
    in_flight = replace(document(2, [7, 7]), tokenizer=TOKENIZER_VERSION + 1)
    first = stored.learn(in_flight)
    assert first.verdict.boilerplate == (False, False)
    assert (first.verdict.depth, first.verdict.support) == (0, 1)
    assert stored.learn(in_flight) == first._replace(relation=Relation.REPLAY)
    assert nodes(stored.domain.tree.root) == {(): (1, {7: 1})}


def test_a_replay_after_a_tokenizer_upgrade_is_judged_anew() -> None:
    """A replay is judged again if another tokenizer made its row, even if the blocks are equal.

    The stored verdict was made without a comparison with the other pages.
    """
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(replace(document(2, [7]), tokenizer=TOKENIZER_VERSION + 1))
    lesson = stored.learn(document(2, [7]))
    assert (lesson.relation, lesson.verdict.boilerplate) == (Relation.REPLAY, (True,))
    assert Row.decode(lesson.row).tokenizer == TOKENIZER_VERSION


def test_an_undated_page_is_as_new_as_the_newest_of_its_domain() -> None:
    """A page without a date gets the newest document time of its site, or 0 on an empty site.

    The row stores this time, which never comes from a clock.
    """
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7], published=DAY_2))
    stored.learn(document(3, [7]))
    times = [Row.decode(row).time for row in stored.rows.values()]
    assert times == [0, document(2, [], published=DAY_2).time, times[1]]


@pytest.mark.parametrize("keep_counts", [False, True])
def test_counts_are_stored_where_they_are_published(keep_counts: bool) -> None:
    """If counts are published, rows store them, so that a replay publishes the same bytes."""
    stored = Stored(keep_counts=keep_counts)
    lesson = stored.learn(document(1, [7, 7]))
    assert lesson.verdict.counts == ((1, 1) if keep_counts else None)
    assert Row.decode(lesson.row).verdict == lesson.verdict


def test_a_page_without_blocks_is_learned() -> None:
    """A page without blocks adds 1 to the support of its nodes, and its verdict is empty."""
    stored = Stored()
    assert stored.learn(document(1, [])).verdict.boilerplate == ()
    assert stored.learn(document(1, [])).relation is Relation.REPLAY
    assert nodes(stored.domain.tree.root) == {(): (1, {})}


def test_a_damaged_row_stops_the_rebuild() -> None:
    """A damaged row raises RowError, because without it the site would judge by fewer pages."""
    row = Stored().learn(document(1, [7])).row
    with pytest.raises(RowError):
        Site(AT_DOMAIN, None).rebuild([(bytes(16), row[:-1])])


def test_what_left_the_window_cannot_be_judged() -> None:
    """A document that has left the window has no leaf in the tree, so `judge` raises KeyError."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.domain.remove(document(1, []).key_bytes)
    with pytest.raises(KeyError):
        stored.domain.judge(replace(document(1, []), blocks=(text_block(7),)))
