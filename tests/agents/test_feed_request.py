"""The request for a feed handles redirects, statuses and bodies; a fake client responds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agents.polling import feed_request
from agents.polling.feed_request import FeedRequester, PolledFeed, host_of
from agents.settings.job import Settings
from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.feed.parsed_feed import ParsedFeed
from urltree.crawl.decisions.poll.feed_state import FeedState, new_feed_state
from urltree.crawl.decisions.poll.outcome import PollResult
from urltree.crawl.decisions.response import Response, Trouble, WebError

NOW = 1_800_000_000.0  # 15 January 2027, 08:00 UTC
URL = "https://a.example/rss"
ITEM = FeedItem("https://a.example/1", "One")
STATE = new_feed_state(URL, "a.example", NOW)
SETTINGS = Settings(contact="https://example.org/crawler", max_redirects=3)


class Web:
    """Fake web client with prepared responses or errors by URL; it records the requests."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    async def get(self, url: str, headers: Mapping[str, str], **limits: Any) -> Response:
        """Return the prepared response, or raise the prepared error, as `WebClient.get` does."""
        self.asked.append((url, headers))
        found = self.answers[url]
        if isinstance(found, WebError):
            raise found
        status, named, body = found
        wanted = limits["wants"](status, named)
        return Response(url, status, named, body if wanted else b"", 0.5)


class Parser:
    """Fake parser that counts its calls; it finds one item in any body but `a page`."""

    times = 0

    async def parse(self, body: bytes, content_type: str | None, url: str) -> ParsedFeed:
        """Return the feed; raise NOT_A_FEED for a web page, as `Parsers.parse` does."""
        self.times += 1
        if body == b"a page":
            raise WebError(Trouble.NOT_A_FEED, f"{url}: {content_type}")
        return ParsedFeed(title="News", items=(ITEM,))


def ask(
    answers: Mapping[str, Any], state: FeedState = STATE, now: float = NOW, **settings: Any
) -> tuple[PolledFeed, Web, Parser]:
    """Poll a feed once; return the result, the fake web client and the fake parser."""
    web, parser = Web(answers), Parser()
    limits = SETTINGS.model_copy(update={"host_pause": 0.0, "latency_factor": 0.0, **settings})
    requester = FeedRequester(web, parser, limits, lambda: now)  # type: ignore[arg-type]
    return asyncio.run(requester.request(state)), web, parser


def to(url: str, status: int = 301) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers and body of a redirect to this URL."""
    return status, {"location": url}, b"moved"


FOUND = (200, {"etag": '"1"', "last-modified": "yesterday", "cache-control": "max-age=60"}, b"feed")


def test_an_answer_becomes_an_outcome_with_its_validators_and_items() -> None:
    """The outcome of a poll contains the validators, the freshness and the items of the response.

    The request has no condition, because the feed's state has no validators yet.
    """
    asked, web, _ = ask({URL: FOUND})
    outcome = asked.outcome
    assert (outcome.result, outcome.sequence, outcome.at) == (PollResult.ITEMS, 1, NOW)
    assert (outcome.etag, outcome.last_modified, outcome.max_age) == ('"1"', "yesterday", 60.0)
    assert (outcome.title, asked.items) == ("News", (ITEM,))
    assert set(web.asked[0][1]) == {"Accept"}


def test_only_the_leading_permanent_redirects_move_a_feed() -> None:
    """A feed moves to the target of the permanent redirects before the first temporary one.

    The target of a temporary redirect may change.
    """
    b, c, d = (f"https://{name}.example/" for name in "bcd")
    asked, *_ = ask({URL: to(b), b: to(c, 308), c: to(d, 302), d: FOUND})
    assert asked.outcome.moved_to == c
    asked, *_ = ask({URL: to(b, 307), b: to(c), c: FOUND})
    assert asked.outcome.moved_to is None


def test_a_feed_that_fails_behind_a_redirect_has_not_moved() -> None:
    """A feed does not move to the target of a redirect if this target responds with an error.

    Sites that are down redirect all requests to an error page.
    """
    asked, *_ = ask({URL: to("https://b.example/"), "https://b.example/": (404, {}, b"")})
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
    asked, web, _ = ask(answers)
    assert asked.outcome.trouble is Trouble.REDIRECT
    assert len(web.asked) == requests


def test_a_host_has_its_pause_also_within_one_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """A poll waits for the host's pause before it follows a redirect to the same host."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(feed_request.asyncio, "sleep", sleep)
    ask({URL: to("/new"), "https://a.example/new": FOUND}, host_pause=7.0)
    assert pauses == [7.0]
    ask({URL: to("https://b.example/"), "https://b.example/": FOUND}, host_pause=7.0)
    assert pauses == [7.0]


def test_the_same_body_is_parsed_once_a_day() -> None:
    """A body that is the same as before is parsed only once a day.

    So a server without conditional responses does not cause a parse at each poll.
    """
    asked, *_ = ask({URL: FOUND})
    state = replace(STATE, body_hash=asked.outcome.body_hash, last_poll=NOW)
    asked, _, parser = ask({URL: FOUND}, state, NOW + 3_600)
    assert (asked.outcome.result, parser.times) == (PollResult.UNCHANGED, 0)
    asked, _, parser = ask({URL: FOUND}, state, NOW + 86_400)
    assert (asked.outcome.result, parser.times) == (PollResult.ITEMS, 1)


def test_not_modified_is_an_answer_to_a_condition_alone() -> None:
    """A 304 is valid only after a conditional request; otherwise the poll has failed."""
    known = replace(STATE, etag='"1"', unconditional_at=NOW, sequence=4)
    asked, web, _ = ask({URL: (304, {}, b"")}, known)
    assert (asked.outcome.result, asked.outcome.sequence) == (PollResult.UNCHANGED, 5)
    assert web.asked[0][1]["If-None-Match"] == '"1"'
    asked, *_ = ask({URL: (304, {}, b"")})
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
    outcome = ask({URL: answer})[0].outcome
    assert (outcome.result, outcome.trouble) == (result, trouble)
    assert outcome.message
    assert outcome.retry_after == (9.0 if outcome.status == 503 else None)
    assert (outcome.etag, outcome.body_hash) == (None, None)


def test_a_host_is_its_name_and_its_port_where_that_is_not_the_usual() -> None:
    """A host is a lower-case name, with the port unless it is the scheme's default port.

    So all URLs of a host share one queue.
    """
    assert host_of("http://User@News.Example:80/a?b") == "news.example"
    assert host_of("https://news.example:8443/") == "news.example:8443"
