"""A client beside the misbehaving server, whose limits end only what hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.settings.job import Settings
from tests.agents.limits import OF_ANSWERS
from tests.urltree.crawl.web.misbehaving import Misbehaving, running
from urltree.crawl.decisions.response import Response
from urltree.crawl.web.client import WebClient

Ask = Callable[..., list[Response]]

MAX_BYTES = 1_000_000


@pytest.fixture(scope="package")
def server() -> Iterator[Misbehaving]:
    """One for all tests here."""
    with running() as misbehaving:
        yield misbehaving


@pytest.fixture
def settings(server: Misbehaving) -> Settings:
    """Every name leads to the server."""
    return Settings.model_validate({"contact": "me@example.org", **OF_ANSWERS, **server.settings})


@pytest.fixture
def ask(settings: Settings) -> Ask:
    """Asks one URL after the other with one client; options are those of `Client.get`."""

    def run(*urls: str, change: dict[str, Any] | None = None, **options: Any) -> list[Response]:
        async def ask_all() -> list[Response]:
            changed = settings.model_copy(update=change or {})
            async with WebClient(changed.client) as client:
                return [
                    await client.get(url, **({"max_bytes": MAX_BYTES} | options)) for url in urls
                ]

        return asyncio.run(ask_all())

    return run
