"""Hostile responses cost limited memory and time, and cause no error except WebError."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

import psutil
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from agents.settings.feeds import MIB
from agents.settings.job import Settings
from tests import child_process
from tests.agents.limits import GUARD, OF_ANSWERS
from tests.conftest import Record
from tests.urltree.crawl.web.answers import ANSWERS
from tests.urltree.crawl.web.misbehaving import Misbehaving
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web.client import WebClient

# CPU seconds allowed for a response of 5 KB. It usually takes milliseconds, but on some machines
# the CPU clock also counts the time in which the machine is paused.
CPU_SECONDS = 60.0


@pytest.fixture(scope="module")
def apart() -> Iterator[Settings]:
    """Return settings for a server in another process, so that only the client's memory counts."""
    command = [sys.executable, "-m", "tests.urltree.crawl.web.misbehaving"]
    with subprocess.Popen(
        command,
        env=child_process.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        assert server.stdin
        yield Settings.model_validate({**OF_ANSWERS, **json.loads(server.stdout.readline())})
        server.stdin.close()


@contextmanager
def growth() -> Iterator[list[int]]:
    """Measure the largest growth of this process's memory in bytes within the `with` block."""
    process, ended, peak = psutil.Process(), threading.Event(), [0]
    before = process.memory_info().rss

    def watch() -> None:
        while not ended.wait(0.005):
            peak[0] = max(peak[0], process.memory_info().rss - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


@pytest.mark.parametrize(
    "path",
    [
        *("bomb", "endless", "endless-chunks", "endless-continue", "endless-members"),
        *("large-headers", "large-header", "many-headers"),
    ],
)
def test_memory_stays_below_100_mb_above_idle(apart: Settings, path: str, record: Record) -> None:
    """A hostile response costs less than 100 MB of memory if a body may have 10 MiB."""

    async def run() -> None:
        async with WebClient(apart.client) as client:
            with pytest.raises(WebError):
                await client.get(f"https://any.example/{path}", max_bytes=10 * MIB)

    with growth() as peak:
        asyncio.run(run())
    record(f"peak memory, {path}: +{peak[0] / 1e6:.0f} MB")
    assert peak[0] < 100_000_000


def test_ten_bombs_at_once_stay_below_100_mb(apart: Settings) -> None:
    """The client discards a decompressed body as soon as the body exceeds the limit of 2 MiB."""

    async def run() -> list[object]:
        async with WebClient(apart.client) as client:
            asked = (client.get(f"http://b{n}.example/bomb", max_bytes=2 * MIB) for n in range(10))
            return await asyncio.gather(*asked, return_exceptions=True)

    with growth() as peak:
        troubles = asyncio.run(run())
    assert all(isinstance(trouble, WebError) for trouble in troubles)
    assert peak[0] < 100_000_000


def test_forty_bodies_of_5_mb_that_hang_stay_below_100_mb_together(
    apart: Settings, record: Record
) -> None:
    """A common budget limits the memory of unfinished bodies, while small pages still arrive.

    Without this budget, the bodies here would need 210 MB.
    """

    async def run() -> None:
        async with asyncio.timeout(GUARD), WebClient(apart.client) as client:

            async def get(host: str, path: str) -> Response:
                return await client.get(f"http://{host}.example/{path}", max_bytes=10 * MIB)

            much = [asyncio.create_task(get(f"m{n}", "much-then-hang")) for n in range(40)]
            await asyncio.sleep(2)  # time to receive the bodies, while `growth` measures
            assert (await get("small", "page")).status == 200
            assert not any(task.done() for task in much)
            for task in much:
                task.cancel()
            await asyncio.wait(much)

    with growth() as peak:
        asyncio.run(run())
    record(f"peak memory, forty bodies of 5 MB that hang: +{peak[0] / 1e6:.0f} MB")
    assert peak[0] < 100_000_000


_LINES = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK", b"HTTP/1.0 404 No", b"HTTP/1.1 304 Not Modified", b"HTTP/1.1 100 C"),
        *(b"Content-Length: 10", b"Content-Length: 0", b"Content-Length: x", b"Connection: close"),
        *(
            b"Transfer-Encoding: chunked",
            b"Transfer-Encoding: gzip, chunked",
            b"5",
            b"0",
            b"ffffff",
        ),
        *(b"Content-Encoding: gzip", b"Content-Encoding: deflate", b"Upgrade: h2c", b"", b"", b""),
        *(
            b"Location: \xff",
            b"Set-Cookie: a=\x00; Max-Age=x",
            b"Set-Cookie: =;=;",
            b"hello",
            b": x",
        ),
        *(b"Trailer: x", b"Sec-WebSocket-Key1: x", b"Keep-Alive: timeout=x", b" folded"),
    ]
)
_WHOLE = st.sampled_from([part for part in ANSWERS.values() if len(part) < 5_000])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a response with some of its bytes replaced, removed or repeated."""
    whole = bytearray(draw(_WHOLE))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(whole)))
        whole[start : start + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(whole)


def test_any_bytes_are_an_answer_or_a_web_error(server: Misbehaving, settings: Settings) -> None:
    """Random bytes, shuffled HTTP lines and damaged responses end at once, not by a time limit."""
    loop = asyncio.new_event_loop()
    errors: list[object] = []
    troubles: set[Trouble] = set()
    loop.set_exception_handler(lambda _, context: errors.append(context))
    client = loop.run_until_complete(WebClient(settings.client).__aenter__())

    @effort(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.binary() | st.lists(_LINES).map(b"\r\n".join) | damaged())
    @example(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\x7f\r\n\r\n")
    def run(raw: bytes) -> None:
        server.raw = raw
        began = process_time()
        try:
            answer = loop.run_until_complete(client.get("http://raw.example/raw", max_bytes=1_000))
        except WebError as error:
            troubles.add(error.trouble)
        else:
            assert isinstance(answer, Response)
            assert len(answer.body) <= 1_000
            assert 200 <= answer.status <= 599
        assert process_time() - began < CPU_SECONDS

    try:
        run()
    finally:
        loop.run_until_complete(client.__aexit__(None, None, None))
        loop.close()
    assert errors == []
    assert Trouble.TIMEOUT not in troubles
