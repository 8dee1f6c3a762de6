"""A client with short limits beside the misbehaving server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.settings import Settings
from agents.web.client import Client
from tests.agents.web.misbehaving import Misbehaving, running
from urltree.feeds.answer import Answer

Ask = Callable[..., list[Answer]]

MAX_BYTES = 1_000_000
LIMITS = {"connect_seconds": 0.7, "header_seconds": 1, "read_seconds": 1, "total_seconds": 1.5}


@pytest.fixture(scope="package")
def server() -> Iterator[Misbehaving]:
    """One for all tests here."""
    with running() as misbehaving:
        yield misbehaving


@pytest.fixture
def settings(server: Misbehaving) -> Settings:
    """Limits of a second, and every name leading to the server."""
    return Settings.model_validate({"contact": "me@example.org", **LIMITS, **server.settings})


@pytest.fixture
def ask(settings: Settings) -> Ask:
    """Asks one URL after the other with one client; options are those of `Client.get`."""

    def run(*urls: str, change: dict[str, Any] | None = None, **options: Any) -> list[Answer]:
        async def ask_all() -> list[Answer]:
            changed = settings.model_copy(update=change or {})
            async with Client(changed) as client:
                return [
                    await client.get(url, **({"max_bytes": MAX_BYTES} | options)) for url in urls
                ]

        return asyncio.run(ask_all())

    return run
