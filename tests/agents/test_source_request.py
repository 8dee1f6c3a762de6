"""The request for a source handles redirects, statuses and bodies; a fake client responds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from agents.fetching import source_request
from agents.fetching.host_client import HostClient
from agents.fetching.hosts import Hosts
from agents.fetching.jobs import SmallJob, host_of
from agents.fetching.source_request import SourceRequester, in_parts
from agents.settings.job import Settings
from agents.telemetry.metrics import Metrics
from models.crawl.host_request import HostRequest, Purpose
from tests.agents.requesting import FakeStage, FakeTable, FakeWork
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.host.host_state import HostState
from urltree.crawl.decisions.poll.answer import PollAnswer
from urltree.crawl.decisions.poll.outcome import PollOutcome, PollResult
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.decisions.source.reading import ReadSource

NOW = 1_800_000_000.0  # 15 January 2027, 08:00 UTC
URL = "https://a.example/rss"
ITEM = FeedItem("https://a.example/1", "One")
REQUEST = HostRequest(
    purpose=Purpose.SOURCE, url=URL, asked_at=NOW, site="a.example", feed=URL, sequence=1
)
SETTINGS = Settings.model_validate(
    {
        "contact": "https://example.org/crawler",
        "max_redirects": 3,
        "host_pause": 7.0,
        "latency_factor": 0.0,
    }
)


class Web:
    """Fake web client with prepared responses or errors by URL; it records the requests."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    @asynccontextmanager
    async def slot(self, url: str) -> AsyncIterator[None]:  # noqa: ARG002
        """Allow the request at once."""
        yield

    async def get(self, url: str, headers: Mapping[str, str], **limits: Any) -> Response:
        """Return the prepared response, or raise the prepared error, as `WebClient.get` does."""
        self.asked.append((url, headers))
        found = self.answers[url]
        if isinstance(found, WebError):
            raise found
        status, named, body = found
        wanted = limits["wants"](status, named)
        return Response(url, status, named, body if wanted else b"", 0.5)


class OpenGate:
    """Fake gate that lets every request through."""

    async def admit(self, is_ours: Callable[[], Awaitable[bool]]) -> bool:
        """Return whether the record is ours."""
        return await is_ours()

    async def send(self, _url: str, _page: object, request: Callable[[], Awaitable[Any]]) -> Any:
        """Send the request."""
        return await request()


class Parser:
    """Fake parser that counts its calls; it finds one item in any body but `a page`."""

    times = 0

    async def parse(
        self, body: bytes, content_type: str | None, url: str, *_: object
    ) -> ReadSource:
        """Return the feed; raise NOT_A_FEED for a web page, as `Parsers.parse` does."""
        self.times += 1
        if body == b"a page":
            raise WebError(Trouble.NOT_A_FEED, f"{url}: {content_type}")
        return ReadSource(title="News", items=(ITEM,))


class Asked:
    """A chain of requests for a source, each hop sent as its owner does.

    Attributes:
        web, parser: fake client and fake parser.
        answers: parts of the answer at the end of the chain.
        request: last request of the chain.
        states: states of the hosts after the chain.
    """

    def __init__(self, answers: Mapping[str, Any], request: HostRequest, now: float) -> None:
        self.web, self.parser = Web(answers), Parser()
        self.request = request
        self.states = Hosts(cast("Any", FakeTable()))
        stage, metrics = cast("Any", FakeStage()), Metrics()
        web = cast("Any", self.web)
        gate = cast("Any", OpenGate())
        client = HostClient(SETTINGS, web, gate, self.states, stage, metrics, lambda: now)
        self._requester = SourceRequester(client, cast("Any", self.parser), SETTINGS)
        self.answers = asyncio.run(self._follow())

    async def _follow(self) -> list[PollAnswer]:
        while True:
            future = asyncio.get_running_loop().create_future()
            work = cast("Any", FakeWork())
            job = SmallJob(work, "", "a.example", future, request=self.request)
            found = await self._requester.request(job)
            self.request = job.request
            if not isinstance(found, str):
                return found
            job.follow(found)
            self.request = job.request

    @property
    def outcome(self) -> PollOutcome:
        """Outcome of the poll."""
        return self.answers[-1].outcome

    @property
    def items(self) -> tuple[FeedItem, ...]:
        """Items of all parts."""
        return tuple(item for answer in self.answers for item in answer.items)

    def state(self, host: str) -> HostState:
        """Return the state of a host after the chain."""
        return self.states.get(FakeWork.message.partition, "a.example", host)


def ask(answers: Mapping[str, Any], now: float = NOW, **fields: Any) -> Asked:
    """Poll a source once; keyword arguments are fields of its request."""
    return Asked(answers, replace(REQUEST, **fields), now)


def to(url: str, status: int = 301) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers and body of a redirect to this URL."""
    return status, {"location": url}, b"moved"


FOUND = (200, {"etag": '"1"', "last-modified": "yesterday", "cache-control": "max-age=60"}, b"feed")


def test_an_answer_becomes_an_outcome_with_its_validators_and_items() -> None:
    """The outcome of a poll contains the validators, the freshness and the items of the response.

    The request has no condition, because it has no validators.
    """
    asked = ask({URL: FOUND})
    outcome = asked.outcome
    assert (outcome.result, outcome.sequence, outcome.at) == (PollResult.ITEMS, 1, NOW)
    assert (outcome.etag, outcome.last_modified, outcome.max_age) == ('"1"', "yesterday", 60.0)
    assert (outcome.title, asked.items) == ("News", (ITEM,))
    assert set(asked.web.asked[0][1]) == {"Accept"}


def test_only_the_leading_permanent_redirects_move_a_feed() -> None:
    """A feed moves to the target of the permanent redirects before the first temporary one.

    The target of a temporary redirect may change.
    """
    b, c, d = (f"https://{name}.example/" for name in "bcd")
    asked = ask({URL: to(b), b: to(c, 308), c: to(d, 302), d: FOUND})
    assert asked.outcome.moved_to == c
    assert asked.request.redirects == (b, c, d)
    asked = ask({URL: to(b, 307), b: to(c), c: FOUND})
    assert asked.outcome.moved_to is None


def test_a_feed_that_fails_behind_a_redirect_has_not_moved() -> None:
    """A feed does not move to the target of a redirect if this target responds with an error.

    Sites that are down redirect all requests to an error page.
    """
    asked = ask({URL: to("https://b.example/"), "https://b.example/": (404, {}, b"")})
    assert (asked.outcome.trouble, asked.outcome.status) == (Trouble.STATUS, 404)
    assert asked.outcome.moved_to is None


@pytest.mark.parametrize(
    ("answers", "requests"),
    [
        ({URL: to(URL)}, 1),
        ({URL: to("file:///etc/passwd")}, 1),
        ({URL: to("/1"), **{f"https://a.example/{n}": to(f"/{n + 1}") for n in range(9)}}, 4),
    ],
)
def test_redirects_end(answers: Mapping[str, Any], requests: int) -> None:
    """A poll ends at a redirect loop, at a target that is not http, or after the maximum number."""
    asked = ask(answers)
    assert asked.outcome.trouble is Trouble.REDIRECT
    assert len(asked.web.asked) == requests


def test_every_hop_gives_its_own_host_a_pause() -> None:
    """Each request of a chain of redirects sets the pause of the host that it has asked.

    The longest latency of the chain is that of the outcome.
    """
    asked = ask({URL: to("https://b.example/"), "https://b.example/": FOUND})
    assert asked.state("a.example").next_at == asked.state("b.example").next_at == NOW + 7.0
    assert asked.outcome.seconds == 0.5


@pytest.mark.parametrize(("status", "rests"), [(429, True), (503, False), (200, False)])
def test_one_503_rests_the_feed_and_429_the_host(status: int, *, rests: bool) -> None:
    """After status 429 the host backs off; one 503 of a feed may come from the feed's program."""
    asked = ask({URL: (status, {"retry-after": "900"}, b"feed")})
    assert (asked.state("a.example").backoff_until == NOW + 900.0) == rests
    assert asked.outcome.retry_after == (None if status == 200 else 900.0)


def test_an_equal_body_is_parsed_only_where_the_request_says_so() -> None:
    """A body that is the same as before is not parsed, unless the request asks for it.

    So a server without conditional responses does not cause a parse at each poll.
    """
    known = ask({URL: FOUND}).outcome.body_hash
    asked = ask({URL: FOUND}, body_hash=known)
    assert (asked.outcome.result, asked.parser.times) == (PollResult.UNCHANGED, 0)
    asked = ask({URL: FOUND}, body_hash=known, is_read_again=True)
    assert (asked.outcome.result, asked.parser.times) == (PollResult.ITEMS, 1)


def test_not_modified_is_an_answer_to_a_condition_alone() -> None:
    """A 304 is valid only after a conditional request; otherwise the poll has failed."""
    asked = ask({URL: (304, {}, b"")}, etag='"1"', sequence=5)
    assert (asked.outcome.result, asked.outcome.sequence) == (PollResult.UNCHANGED, 5)
    assert asked.web.asked[0][1]["If-None-Match"] == '"1"'
    asked = ask({URL: (304, {}, b"")})
    assert (asked.outcome.result, asked.outcome.trouble) == (PollResult.FAILED, Trouble.STATUS)


@pytest.mark.parametrize(
    ("answer", "result", "trouble"),
    [
        (WebError(Trouble.DNS, "no such name"), PollResult.FAILED, Trouble.DNS),
        ((410, {}, b""), PollResult.GONE, Trouble.STATUS),
        ((503, {"retry-after": "9"}, b""), PollResult.FAILED, Trouble.STATUS),
        ((301, {}, b""), PollResult.FAILED, Trouble.STATUS),
        ((200, {}, b"a page"), PollResult.FAILED, Trouble.NOT_A_FEED),
    ],
)
def test_trouble_has_its_class(answer: Any, result: PollResult, trouble: Trouble) -> None:
    """The outcome of a failed poll contains the kind of the error and the server's Retry-After."""
    outcome = ask({URL: answer}).outcome
    assert (outcome.result, outcome.trouble) == (result, trouble)
    assert outcome.message
    assert outcome.retry_after == (9.0 if outcome.status == 503 else None)
    assert (outcome.etag, outcome.body_hash) == (None, None)


def test_a_large_answer_is_sent_in_parts_that_are_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each item is in one part, in the order of the feed, and only the last part is the last.

    An item that is larger than a part has a part of its own.
    """
    monkeypatch.setattr(source_request, "PART_BYTES", 1_000)
    sizes = (1, 1, 5_000, 1, 800, 800, 1)
    items = tuple(FeedItem(f"https://a.example/{n}", "t" * size) for n, size in enumerate(sizes))
    whole = PollAnswer(outcome=ask({URL: FOUND}).outcome, items=items)
    parts = list(in_parts(whole))
    assert tuple(item for part in parts for item in part.items) == items
    assert all(part.items for part in parts)
    assert [part.part for part in parts] == list(range(6))
    assert [part.is_last for part in parts] == [False] * 5 + [True]
    assert {part.outcome for part in parts} == {whole.outcome}
    assert list(in_parts(PollAnswer(outcome=whole.outcome))) == [PollAnswer(outcome=whole.outcome)]


def test_a_host_is_its_name_and_its_port_where_that_is_not_the_usual() -> None:
    """A host is a lower-case name, with the port unless it is the scheme's default port.

    So all URLs of a host share one queue.
    """
    assert host_of("http://User@News.Example:80/a?b") == "news.example"
    assert host_of("https://news.example:8443/") == "news.example:8443"
