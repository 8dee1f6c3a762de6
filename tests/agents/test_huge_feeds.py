"""Parsing a feed of 50 MB or 100,000 items takes limited time and memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agents.fetching.parsers import Parsers
from tests.agents.limits import GUARD
from tests.agents.parsing import FEED, JSON, children, is_well, rss, run
from tests.conftest import Record
from urltree.crawl.decisions.response import Trouble, WebError

pytestmark = pytest.mark.slow

BOUNDED = {
    "100,000 items": lambda: rss(100_000),
    "50 MB": lambda: rss(100_000, f"<description>{'text ' * 90}</description>"),
    "10 MiB of JSON": lambda: (
        JSON % b",".join([b'{"url":"https://a.org/1","title":"a title"}'] * 240_000)
    ),
    "a damaged item of 1 MiB": lambda: rss(1, f"<description>{'x &lt;b> ' * 110_000}</descr>"),
    "10 MiB of HTML": lambda: b"<!DOCTYPE html>" + b"<p class='x'>text</p>" * 480_000,
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_huge_feed_is_bounded(name: str, record: Record) -> None:
    """Parsing a huge feed takes less than GUARD seconds and less than 1 GiB of memory.

    A feed that takes longer causes the error `too-slow`, which fails the test.
    """

    async def test(parsers: Parsers) -> None:
        assert await is_well(parsers)
        body = BOUNDED[name]()
        started = time.monotonic()
        try:
            found = f"{len((await parsers.parse(body, 'text/xml', FEED)).items):,} items"
        except WebError as error:
            found = error.trouble
        seconds = time.monotonic() - started
        peak = max(_peak(child.pid) for child in children())
        record(f"{name}: {found} in {seconds:.1f} s, {peak} MiB")
        assert found in ("1 items", "1,000 items", Trouble.NOT_A_FEED)
        assert peak < 1_024

    run(test, seconds=GUARD)


def _peak(pid: int) -> int:
    """Return the peak resident memory of a process in MiB, or 0 if /proc does not contain it."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return max(
        (int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), default=0
    )
