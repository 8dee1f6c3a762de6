"""No request begins against the rules, and one that runs ends when a rule forbids it."""

from __future__ import annotations

import asyncio

import pytest

from agents.rules.gate import RequestGate, StoppedError
from urltree.crawl.decisions.rules.rule import CrawlRule, RuleKey
from urltree.crawl.decisions.rules.rules import NO_PAGE, Rules
from urltree.page import Reason

URL = "https://example.org/a"
DENY = RuleKey.parse("deny host example.org")


class Known(Rules):
    """Rules whose age a test decides."""

    def __init__(self) -> None:
        super().__init__()
        self.current = asyncio.Event()
        self.current.set()

    def is_current(self) -> bool:
        """Return whether the test calls the rules current."""
        return self.current.is_set()

    async def until_current(self) -> None:
        """Wait until the test calls the rules current."""
        await self.current.wait()


class Server:
    """A server that answers when the test says so.

    Attributes:
        asked: number of requests that began.
        ended: number of requests that were cancelled.
    """

    def __init__(self) -> None:
        self.asked = self.ended = 0
        self.answer = asyncio.Event()

    async def request(self) -> str:
        """Wait for the answer of the server."""
        self.asked += 1
        try:
            await self.answer.wait()
        except asyncio.CancelledError:
            self.ended += 1
            raise
        return "body"


def test_a_denied_request_is_not_sent() -> None:
    """The server is not asked, and the error has the reason of the dead letter."""

    async def scenario() -> None:
        known, server = Known(), Server()
        known.put(CrawlRule(DENY))
        with pytest.raises(StoppedError, match=str(DENY)) as caught:
            await RequestGate(known).send(URL, NO_PAGE, server.request)
        assert caught.value.verdict.reason is Reason.DENIED
        assert server.asked == 0

    asyncio.run(scenario())


def test_a_running_request_ends_when_a_rule_forbids_it() -> None:
    """Requests to other hosts go on, and so does every request while no rule forbids it."""

    async def scenario() -> None:
        known, server = Known(), Server()
        gate = RequestGate(known)
        tasks = [
            asyncio.create_task(gate.send(url, NO_PAGE, server.request))
            for url in (URL, "https://example.net/")
        ]
        while server.asked < 2:  # noqa: ASYNC110 - the server has no event
            await asyncio.sleep(0)
        gate.check()
        known.put(CrawlRule(DENY))
        gate.check()
        with pytest.raises(StoppedError):
            await tasks[0]
        server.answer.set()
        assert await tasks[1] == "body"
        assert server.ended == 1
        gate.check()
        assert not gate._running
        assert not gate._stopped

    asyncio.run(scenario())


def test_a_worker_that_stops_is_not_told_of_a_rule() -> None:
    """If the caller is cancelled, the request is cancelled, and no StoppedError is raised."""

    async def scenario() -> None:
        known, server = Known(), Server()
        gate = RequestGate(known)
        task = asyncio.create_task(gate.send(URL, NO_PAGE, server.request))
        while not server.asked:  # noqa: ASYNC110 - the server has no event
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert server.ended == 1

    asyncio.run(scenario())


def test_an_error_of_the_request_is_passed_on() -> None:
    """An error of the HTTP client reaches the caller unchanged."""

    async def fails() -> None:
        raise ConnectionResetError

    async def scenario() -> None:
        with pytest.raises(ConnectionResetError):
            await RequestGate(Known()).send(URL, NO_PAGE, fails)

    asyncio.run(scenario())


def test_a_record_is_admitted_only_while_the_rules_are_current() -> None:
    """If the rules grow old while the session is checked, both are checked again."""

    async def scenario() -> None:
        known, checks = Known(), 0
        gate = RequestGate(known)

        async def is_ours() -> bool:
            nonlocal checks
            checks += 1
            if checks == 1:
                known.current.clear()
                asyncio.get_running_loop().call_soon(known.current.set)
            return checks < 3

        assert await gate.admit(is_ours)
        assert checks == 2
        assert not await gate.admit(is_ours)

    asyncio.run(scenario())
