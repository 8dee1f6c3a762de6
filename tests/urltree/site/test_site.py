"""What is said of a document, and what a replay, a replacement and an eviction make of it."""

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
    """A domain with its rows."""

    def __init__(self, eviction: Eviction | None = None, *, keep_counts: bool = False) -> None:
        self.domain = Site(AT_DOMAIN, eviction, keep_counts=keep_counts)
        self.rows: dict[bytes, bytes] = {}

    def learn(self, page: Document) -> Learned:
        """Learn a document and do what the lesson says."""
        lesson = self.domain.learn(page, decoded(self.rows.get(page.key_bytes)))
        self.rows[page.key_bytes] = lesson.row
        for document_id in lesson.evicted:
            del self.rows[document_id]
        return lesson


def test_a_document_counts_before_it_is_judged() -> None:
    """Its own block has c = 1; one that a former page had too has c = 2 (paper, section 4)."""
    stored = Stored(keep_counts=True)
    assert stored.learn(document(1, [7, 8])).verdict.boilerplate == (False, False)
    lesson = stored.learn(document(2, [7, 9, 9]))
    assert lesson.relation is Relation.NEW
    assert lesson.verdict.boilerplate == (True, False, False)
    assert lesson.verdict.counts == (2, 1, 1)
    assert (lesson.verdict.depth, lesson.verdict.support) == (0, 2)


def test_a_replay_says_again_what_was_said_first() -> None:
    """Although the domain knows better by now; judging it again would tell."""
    stored = Stored()
    first = stored.learn(document(1, [7]))
    stored.learn(document(2, [7]))
    again = stored.learn(document(1, [7]))
    assert (again.relation, again.verdict, again.row) == (Relation.REPLAY, first.verdict, first.row)
    assert again.verdict.boilerplate == (False,)
    assert stored.domain.judge(document(1, [7])).boilerplate == (True,)


def test_a_replay_says_it_again_under_another_heuristic() -> None:
    """A change of the setting is no reason to contradict what was published."""
    stored = Stored()
    first = stored.learn(document(1, [7]))
    domain = Site(heuristic("strict"), None)
    domain.rebuild(stored.rows.items())
    assert domain.learn(document(1, [7]), Row.decode(first.row)).verdict == first.verdict


def test_a_replay_with_other_blocks_is_judged_anew_in_its_old_place() -> None:
    """Its former evidence is gone, its time is kept: undated, it is not the newest again."""
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
    """A verdict is a bit a block, so their order matters."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7, 8]))
    assert stored.learn(document(2, [8, 7])).verdict.boilerplate == (False, True)


def test_a_replacement_takes_the_place_of_what_it_replaces() -> None:
    """Same id, other origin: old evidence subtracted, new inserted, judged anew."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7]))
    lesson = stored.learn(document(1, [7], origin="raw-html/0/99"))
    assert (lesson.relation, lesson.verdict.boilerplate) == (Relation.REPLACEMENT, (True,))
    assert nodes(stored.domain.tree.root) == {(): (2, {7: 2})}


def test_an_old_page_is_judged_anew_and_evicted_however_often_it_comes() -> None:
    """It is inserted, judged, and leaves no trace; its row is put and deleted."""
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
    """A crash left the row of an evicted document behind: it is named, and counts nowhere."""
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
        pytest.param(TOKENIZER_VERSION + 1, [], id="newer: left to who wrote them"),
    ],
)
def test_rows_of_another_tokenizer_count_nowhere(tokenizer: int, deleted: list[bytes]) -> None:
    """Their hashes compare with nothing: the domain learns anew."""
    stored = Stored()
    stored.learn(replace(document(1, [7]), tokenizer=tokenizer))
    stored.learn(document(2, [8]))
    domain = Site(AT_DOMAIN, None)
    assert domain.rebuild(stored.rows.items()) == deleted
    assert nodes(domain.tree.root) == {(): (1, {8: 1})}


def test_a_document_of_another_tokenizer_is_judged_as_a_first_page() -> None:
    """It was in flight during the upgrade: all is content, and a replay says so again."""
    stored = Stored()
    stored.learn(document(1, [7]))
    in_flight = replace(document(2, [7, 7]), tokenizer=TOKENIZER_VERSION + 1)
    first = stored.learn(in_flight)
    assert first.verdict.boilerplate == (False, False)
    assert (first.verdict.depth, first.verdict.support) == (0, 1)
    assert stored.learn(in_flight) == first._replace(relation=Relation.REPLAY)
    assert nodes(stored.domain.tree.root) == {(): (1, {7: 1})}


def test_a_replay_after_a_tokenizer_upgrade_is_judged_anew() -> None:
    """Even where the blocks are the same: what was said compared with nothing of today."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(replace(document(2, [7]), tokenizer=TOKENIZER_VERSION + 1))
    lesson = stored.learn(document(2, [7]))
    assert (lesson.relation, lesson.verdict.boilerplate) == (Relation.REPLAY, (True,))
    assert Row.decode(lesson.row).tokenizer == TOKENIZER_VERSION


def test_an_undated_page_is_as_new_as_the_newest_of_its_domain() -> None:
    """Never as new as a clock says; the row remembers it."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.learn(document(2, [7], published=DAY_2))
    stored.learn(document(3, [7]))
    times = [Row.decode(row).time for row in stored.rows.values()]
    assert times == [0, document(2, [], published=DAY_2).time, times[1]]


@pytest.mark.parametrize("keep_counts", [False, True])
def test_counts_are_stored_where_they_are_published(keep_counts: bool) -> None:
    """So that a replay publishes the same bytes."""
    stored = Stored(keep_counts=keep_counts)
    lesson = stored.learn(document(1, [7, 7]))
    assert lesson.verdict.counts == ((1, 1) if keep_counts else None)
    assert Row.decode(lesson.row).verdict == lesson.verdict


def test_a_page_without_blocks_is_learned() -> None:
    """It adds to support, and nothing is said of it."""
    stored = Stored()
    assert stored.learn(document(1, [])).verdict.boilerplate == ()
    assert stored.learn(document(1, [])).relation is Relation.REPLAY
    assert nodes(stored.domain.tree.root) == {(): (1, {})}


def test_a_damaged_row_stops_the_rebuild() -> None:
    """It is ours to mend: going on would judge by a part of the domain."""
    row = Stored().learn(document(1, [7])).row
    with pytest.raises(RowError):
        Site(AT_DOMAIN, None).rebuild([(bytes(16), row[:-1])])


def test_what_left_the_window_cannot_be_judged() -> None:
    """There is no leaf to begin at."""
    stored = Stored()
    stored.learn(document(1, [7]))
    stored.domain.remove(document(1, []).key_bytes)
    with pytest.raises(KeyError):
        stored.domain.judge(replace(document(1, []), blocks=(text_block(7),)))
