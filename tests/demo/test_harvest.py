"""The harvest accounts for the page of each item, in whatever order the records are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import permutations

import pytest

from agents.settings.job import Settings
from demo.harvest import Harvester
from demo.progress import Harvest, RunProgress
from demo.sites import SampleItem
from models.crawl import fetch, poll_outcome
from models.crawl.fetch import FetchRequest
from models.dead_letter import DeadLetter, Record
from models.headers.names import FETCHED_FOR, ORIGIN, Headers
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.response import Trouble

FEED = "https://a.example/feed"
ITEM = SampleItem(
    "1", "https://A.example:443/1#x", "One", "", datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
)
ASKED = FetchRequest(url="https://a.example/1#x", feed=FEED, published="2026-01-02T03:04:00Z")


@dataclass(frozen=True)
class _Record:
    """The parts of a record that the harvester reads."""

    topic: str
    offset: int
    value: bytes | None = None
    headers: Headers = ()
    key: bytes | None = None
    partition: int = 0


def _harvester(*records: _Record) -> Harvester:
    harvester = Harvester(Settings.model_validate({}))
    for record in records:
        harvester.take(record.topic, record)
    return harvester


def _asked(offset: int, url: str = ASKED.url) -> _Record:
    return _Record("fetches", offset, fetch.encode(replace(ASKED, url=url)))


def _page(offset: int, origin: str) -> _Record:
    return _Record("raw-html", offset, b"<p>", ((FETCHED_FOR, origin.encode()),))


def _given_up(offset: int, origin: str, reason: str) -> _Record:
    original = Record(b"a.example", b"", ())
    letter = DeadLetter(origin, "fetch", reason, "", "fetches", original).to_record()
    return _Record("dead-letters", offset, letter.value, letter.headers, letter.key)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_every_request_ends_as_a_page_or_a_dead_letter(order: tuple[int, ...]) -> None:
    """The order of records does not matter: an outcome may be read before its request."""
    records = (
        _asked(0),
        _asked(1, url="https://a.example/2"),
        _page(0, "fetches/0/0"),
        _given_up(0, "fetches/0/1", "robots"),
    )
    harvester = _harvester(*(records[at] for at in order))
    assert harvester.harvest() == Harvest(items=2, pages=1, dead_letters={"robots": 1})
    assert harvester.lost([ITEM]) == ()


def test_a_page_that_is_sent_again_is_the_same_page() -> None:
    """A second record of a page in `fetches` is not a second item.

    A header of the second record contains the origin of the first record.
    """
    again = replace(_asked(9), headers=((ORIGIN, b"fetches/0/0"),))
    harvester = _harvester(_asked(0), again)
    assert harvester.harvest() == Harvest(items=1, waiting=1)
    assert harvester.lost([]) == ("fetches/0/0: no outcome",)


def test_dead_letters_of_other_stages_are_not_counted() -> None:
    """A dead letter of normalize does not count, because its page was fetched before."""
    letter = _given_up(0, "raw-html/0/0", "empty")
    harvester = _harvester(_asked(0), _page(0, "fetches/0/0"), letter)
    assert harvester.harvest() == Harvest(items=1, pages=1)


def test_an_item_is_found_by_its_link_without_noise() -> None:
    """An article that is listed again is found with the first request; another link is lost."""
    again = replace(ITEM, url=f"{ITEM.url.partition('#')[0]}?utm_source=feed")
    other = replace(ITEM, url="https://a.example/2")
    lost = _harvester(_asked(0), _page(0, "fetches/0/0")).lost([ITEM, again, other])
    assert lost == (f"{other.url}: not found in its feed",)


def test_an_invalid_address_is_counted_too() -> None:
    """An item whose address the job refuses counts as an item, and the run continues."""
    harvester = _harvester(_asked(0, url="https://me:secret@a.example/"))
    assert harvester.harvest() == Harvest(items=1, waiting=1)


def test_a_feed_fails_until_a_poll_succeeds() -> None:
    """A feed is failing if its last poll failed. A later poll that succeeds ends this.

    An answer in several parts is one poll; one that was postponed is none.
    """
    failed = PollOutcome(
        site="a.example",
        feed=FEED,
        sequence=1,
        at=0,
        result=PollResult.FAILED,
        trouble=Trouble.DNS,
        message="no name",
    )
    good = replace(failed, result=PollResult.UNCHANGED, trouble=None, sequence=2)
    harvester = _harvester(
        _Record("poll-outcomes", 0, poll_outcome.encode(PollAnswer(outcome=failed)))
    )
    assert harvester.harvest() == Harvest(feeds=1, polls=1, failing={FEED: "dns: no name"})
    for answer in (
        PollAnswer(outcome=good, is_last=False),
        PollAnswer(outcome=failed, postponed_until=9.0),
        PollAnswer(outcome=good, part=1),
    ):
        harvester.take("poll-outcomes", _Record("poll-outcomes", 1, poll_outcome.encode(answer)))
    assert harvester.harvest() == Harvest(feeds=1, polls=2)


def test_only_what_brings_a_page_further_is_progress() -> None:
    """Items and pages that have arrived are progress. Polls are not, so a stalled run ends."""
    found = Harvest(items=2, waiting=2)
    assert RunProgress(harvest=found).mark > RunProgress().mark
    assert RunProgress(harvest=replace(found, waiting=1)).mark > RunProgress(harvest=found).mark
    assert RunProgress(harvest=replace(found, polls=9)).mark == RunProgress(harvest=found).mark
