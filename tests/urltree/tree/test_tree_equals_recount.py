"""A site compared with the simple model `Recount` after any sequence of events.

Hypothesis generates the events of a site in the job, in any order. After each event the verdicts,
the stored rows, the window and every node of the tree equal those of the model.
"""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.urltree.builders import decoded, document, nodes, text_block
from tests.urltree.recount import Recount, Said
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.html.tokenizer import TOKENIZER_VERSION
from urltree.site.site import Learned, Relation, Site
from urltree.tree.url_tree import SMALL
from urltree.tree.window import DAY, Eviction

N_MIN = 3
STRICT = heuristic(f"strict-support-{N_MIN - 1}")
PATHS = ("", "news/1", "news/2", "news", "blog?id=1", "blog?id=2")  # a leaf may have children
IDS = 25
EVICTIONS = (None, Eviction(12, 3 * DAY, 5), Eviction(10, 0, 9), Eviction(5, DAY, 5))

numbers = st.integers(0, IDS - 1)
hashes = st.lists(st.integers(0, 6), max_size=8)
dates = st.one_of(
    st.none(),
    st.integers(1, 20).map("2026-05-{:02}T00:00:00Z".format),
    st.sampled_from(("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999Z")),
)


class DomainInTheJob(RuleBasedStateMachine):
    """A site and its stored rows, used as the job and the library use them."""

    @initialize(eviction=st.sampled_from(EVICTIONS))
    def domain_is_new(self, eviction: Eviction | None) -> None:
        """Start with an empty site and no stored rows."""
        self.eviction = eviction
        self.twin = Recount(eviction, N_MIN)
        self.domain = Site(STRICT, eviction)
        self.memory = self.domain.memory
        self.rows: dict[bytes, bytes] = {}
        self.copies = 0

    @rule(number=numbers, hashes=hashes, date=dates)
    def page_comes(self, number: int, hashes: list[int], date: str | None) -> None:
        """Deliver a new page, or a page that replaces another one with its id."""
        self.deliver(self.page(number, hashes, date))

    @rule(first=numbers, count=st.integers(SMALL, 12), day=st.integers(1, 20))
    def many_pages_come(self, first: int, count: int, day: int) -> None:
        """Deliver so many pages that a node stores counts instead of hashes."""
        for number in range(first, first + count):
            date = f"2026-05-{day:02}T00:00:00Z"
            self.deliver(self.page(number % IDS, [0, number, number], date))

    @rule(number=numbers, hashes=hashes, date=dates)
    def page_of_another_tokenizer_comes(
        self, number: int, hashes: list[int], date: str | None
    ) -> None:
        """Deliver a page that was in flight while the tokenizer was upgraded."""
        page = self.page(number, hashes, date)
        self.deliver(replace(page, tokenizer=TOKENIZER_VERSION - 1))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def page_is_replayed(self, data: st.DataObject) -> None:
        """Replay a page: its row is stored again unchanged, and no row is evicted."""
        before = dict(self.rows)
        lesson = self.deliver(self.stored_page(data))
        assert (lesson.relation, lesson.evicted, self.rows) == (Relation.REPLAY, (), before)

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), hashes=hashes)
    def page_is_replayed_with_other_blocks(self, data: st.DataObject, hashes: list[int]) -> None:
        """Replay a page with other blocks, as after the limit of blocks was changed."""
        page = self.stored_page(data)
        self.deliver(replace(page, blocks=tuple(map(text_block, hashes))))

    @rule(seed=st.integers(0, 99))
    def domain_is_spilt_and_reloaded(self, seed: int) -> None:
        """Rebuild the site from its rows in any order, and delete the rows that it returns."""
        rows = list(self.rows.items())
        random.Random(seed).shuffle(rows)
        self.domain = Site(STRICT, self.eviction)
        for stale in self.domain.rebuild(rows):
            del self.rows[stale]
        if self.twin.known:  # an empty site keeps the rows of an older tokenizer
            self.twin.foreign.clear()

    @rule(number=numbers, hashes=hashes, date=dates, row_was_put=st.booleans())
    def worker_is_killed(
        self, number: int, hashes: list[int], date: str | None, *, row_was_put: bool
    ) -> None:
        """Kill the worker before a row is stored or before rows are deleted; then rebuild."""
        rows = dict(self.rows)
        known, foreign = dict(self.twin.known), dict(self.twin.foreign)
        lesson = self.deliver(self.page(number, hashes, date))
        if row_was_put:
            left_behind = {**rows, bytes.fromhex(f"{number:032x}"): lesson.row}
            self.rows |= {each: left_behind[each] for each in lesson.evicted}
        else:
            self.rows, self.twin.known, self.twin.foreign = rows, known, foreign
        self.domain_is_spilt_and_reloaded(number)

    @invariant()
    def rows_equal_the_twins_documents(self) -> None:
        """Check that the stored rows are those of the model's documents."""
        known = {*self.twin.known, *self.twin.foreign}
        assert set(self.rows) == {bytes.fromhex(document_id) for document_id in known}

    @invariant()
    def window_equals_the_twins(self) -> None:
        """Check that the window has the model's documents in the order of (time, id)."""
        by_age = sorted((each.time, id_) for id_, each in self.twin.known.items())
        assert [(time, id_.hex()) for time, id_ in self.domain.window] == by_age

    @invariant()
    def tree_equals_the_recount(self) -> None:
        """Check that each node has the model's support and counts."""
        assert nodes(self.domain.tree.root) == self.twin.nodes()

    def teardown(self) -> None:
        """Remove all documents, and check that the tree is empty and memory is as at the start."""
        for document_id in list(self.rows):
            if document_id in self.domain.tree:
                self.domain.remove(document_id)
        assert nodes(self.domain.tree.root) == {(): (0, {})}
        assert self.domain.memory == self.memory

    def page(self, number: int, hashes: list[int], date: str | None) -> Document:
        """Return a new copy of page `number`; the number determines the id and the branch."""
        self.copies += 1
        path, origin = PATHS[number % len(PATHS)], f"raw-html/0/{self.copies}"
        return document(number, hashes, path, origin=origin, published=date)

    def stored_page(self, data: st.DataObject) -> Document:
        """Choose one of the pages that have a stored row, and return it."""
        known = {**self.twin.known, **self.twin.foreign}
        return known[data.draw(st.sampled_from(sorted(known)))].document

    def deliver(self, page: Document) -> Learned:
        """Learn a page, store and delete rows, and compare the verdict with that of the model."""
        lesson = self.domain.learn(page, decoded(self.rows.get(page.key_bytes)))
        self.rows[page.key_bytes] = lesson.row
        for document_id in lesson.evicted:
            del self.rows[document_id]
        verdict = lesson.verdict
        assert Said(verdict.depth, verdict.support, verdict.boilerplate) == self.twin.learn(page)
        return lesson


DomainInTheJob.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestTheTreeEqualsTheRecount = DomainInTheJob.TestCase
