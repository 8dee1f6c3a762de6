"""Fixtures: the misbehaving server, and a client whose time limits end only requests that hang."""

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
    """Run one misbehaving server for all tests in this folder."""
    with running() as misbehaving:
        yield misbehaving


@pytest.fixture
def settings(server: Misbehaving) -> Settings:
    """Return settings with which a request for any host name reaches the misbehaving server."""
    return Settings.model_validate({"contact": "me@example.org", **OF_ANSWERS, **server.settings})


@pytest.fixture
def ask(settings: Settings) -> Ask:
    """Return a function that requests URLs one after the other with one client.

    `change` replaces settings; further keyword arguments are passed to `WebClient.get`.
    """

    def run(*urls: str, change: dict[str, Any] | None = None, **options: Any) -> list[Response]:
        async def ask_all() -> list[Response]:
            changed = settings.model_copy(update=change or {})
            async with WebClient(changed.client) as client:
                return [
                    await client.get(url, **({"max_bytes": MAX_BYTES} | options)) for url in urls
                ]

        return asyncio.run(ask_all())

    return run
