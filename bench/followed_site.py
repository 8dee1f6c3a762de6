"""A site whose feeds are polled by the decisions of the job, with its tables in dicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.poll.feed_state import FeedState, new_feed_state
from urltree.crawl.decisions.poll.interval import PollRules
from urltree.crawl.decisions.poll.item_decision import Decision, ItemRules, decide_items
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.poll.seen_items import SeenItemRow
from urltree.crawl.decisions.poll.transition import apply_outcome

SITE = "news.example"
NOW = 1_800_000_000.0

_RULES = ItemRules()


class FollowedSite:
    """The states of a site's feeds and its rows, both stored as bytes as in the job.

    Attributes:
        rows: table `seen_items` of the site.
        asked: links that were sent to `fetches`, in this order.
        revisited: links that were sent again.
        now: time of the next poll; each poll adds 20 minutes.
        rules: rules of the decisions.
    """

    def __init__(self, rules: ItemRules = _RULES) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.asked: list[str] = []
        self.revisited: list[str] = []
        self.now = NOW
        self.rules = rules
        self._states: dict[str, bytes] = {}

    def state(self, name: str = "feed") -> FeedState:
        """Return the state of the feed with this name."""
        row = self._states.get(name)
        if row is not None:
            return FeedState.decode(row)
        return new_feed_state(f"https://{SITE}/{name}", SITE, self.now)

    def load(self, name: str, row: bytes) -> None:
        """Set the stored row of a feed."""
        self._states[name] = row

    def change(self, name: str = "feed", **fields: Any) -> None:
        """Replace fields of a feed's state."""
        self._states[name] = replace(self.state(name), **fields).encode()

    def lookup(self, key: bytes) -> SeenItemRow | None:
        """Return a row of the site."""
        row = self.rows.get(key)
        return None if row is None else SeenItemRow.decode(row)

    def decide(self, items: Iterable[FeedItem], name: str = "feed") -> Decision:
        """Decide about the items of a poll, but store nothing."""
        return decide_items(tuple(items), self.state(name), self.lookup, self.now, self.rules)

    def send(self, items: Iterable[FeedItem], name: str = "feed") -> Decision:
        """Send the new items of a poll and write their rows, but not the state of the feed.

        A worker that is killed between the two writes decides about the same answer again.
        """
        decision = self.decide(items, name)
        self.asked += [item.link for item in decision.new]
        self.revisited += [item.link for item in decision.revisits]
        self.rows |= {key: row.encode() for key, row in decision.rows.items()}
        return decision

    def poll(self, items: Iterable[FeedItem], name: str = "feed") -> list[str]:
        """Poll a feed that lists these items; return the links that are asked for."""
        decision = self.send(items, name)
        outcome = PollOutcome(
            site=SITE,
            feed=decision.state.feed,
            sequence=decision.state.sequence + 1,
            at=self.now,
            result=PollResult.ITEMS,
            items=decision.items,
        )
        self._states[name] = apply_outcome(decision.state, outcome, PollRules()).encode()
        self.now += 1_200.0
        return [item.link for item in decision.new]
