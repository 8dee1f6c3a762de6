"""Count the polls of feeds, their new items, and the outcomes of the items' pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from aiokafka import ConsumerRecord

from agents.settings.job import Settings
from demo.progress import Harvest
from demo.sites import SampleItem
from models.crawl import fetch, poll_outcome
from models.dead_letter import DeadLetter
from models.headers.names import FETCHED_FOR, ORIGIN, header
from models.origin import Origin
from urltree.crawl.decisions.feed.address import feed_address
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.identity import link_key
from urltree.crawl.decisions.poll.outcome import PollResult

TOPICS = ("poll-outcomes", "fetches", "raw-html", "dead-letters")

_PAGE = ""  # outcome of a page that was published; the outcome of a dead letter is its reason


class Harvester:
    """Counter of the polls, of the requests in the topic fetches, and of their outcomes.

    Topics are read in parallel, so the outcome of a request may be read before the request itself.
    """

    def __init__(self, settings: Settings) -> None:
        self._fetches = settings.topic("fetches") + "/"
        self._polls: Counter[str] = Counter()
        self._failing: dict[str, str] = {}
        self._found: set[bytes] = set()
        self._asked: set[str] = set()
        self._ended: dict[str, str] = {}

    def take(self, topic: str, record: ConsumerRecord) -> None:
        """Count a record of one of `TOPICS`."""
        if topic == "poll-outcomes":
            self._poll(record)
        elif topic == "fetches":
            self._ask(record)
        elif topic == "raw-html":
            origin = header(record.headers, FETCHED_FOR)
            if origin is not None:
                self._ended[origin] = _PAGE
        elif topic == "dead-letters":
            letter = DeadLetter.from_record(record.key, record.value, record.headers)
            if letter.origin.startswith(self._fetches):
                self._ended.setdefault(letter.origin, letter.reason)

    def harvest(self) -> Harvest:
        """Return the present counts."""
        ends = Counter(self._ended[origin] for origin in self._asked & self._ended.keys())
        return Harvest(
            feeds=len(self._polls),
            polls=self._polls.total(),
            items=len(self._asked),
            pages=ends.pop(_PAGE, 0),
            waiting=len(self._asked - self._ended.keys()),
            dead_letters=dict(sorted(ends.items())),
            failing=dict(self._failing),
        )

    def lost(self, items: Iterable[SampleItem]) -> tuple[str, ...]:
        """List the items whose pages no request names, and the requests that have no outcome.

        An article that is listed again with the same link is known, so its page is asked once.
        """
        unseen = (
            f"{item.url}: not found in its feed"
            for item in items
            if link_key(_spelled(item.url)) not in self._found
        )
        unended = (f"{origin}: no outcome" for origin in sorted(self._asked - self._ended.keys()))
        return (*unseen, *unended)

    def _poll(self, record: ConsumerRecord) -> None:
        answer = poll_outcome.decode(record.value)
        if not isinstance(answer, PollAnswer) or not answer.is_last or answer.postponed_until:
            return
        outcome = answer.outcome
        self._polls[outcome.feed] += 1
        self._failing.pop(outcome.feed, None)
        if outcome.result in (PollResult.FAILED, PollResult.GONE):
            self._failing[outcome.feed] = f"{outcome.trouble or outcome.result}: {outcome.message}"

    def _ask(self, record: ConsumerRecord) -> None:
        if header(record.headers, ORIGIN) is not None:
            return  # a copy of a request, which `fetch` has sent again
        asked = fetch.decode(record.value)
        self._asked.add(str(Origin(record.topic, record.partition, record.offset)))
        self._found.add(link_key(_spelled(asked.url)))


def _spelled(url: str) -> str:
    """Return an address in the feed reader's normal form, which is that of browsers."""
    try:
        return feed_address(url)
    except ValueError:
        return url
