"""Helpers to run workers of `fetch` on a test's web server, and to read their results."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

from agents.fetch import Fetch
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import raw_html
from models.crawl import fetch as fetches
from models.crawl.fetch import FetchRequest
from models.dead_letter import DeadLetter
from tests.agents.pages_server import Web, serving
from tests.agents.records import ReadAll, Sent
from tests.agents.workers import idle, run, started

NEWS = "http://news.example"


def quick(settings: Settings, data_dir: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    changes = {
        "data_dir": data_dir,
        "commit_seconds": 0.3,
        "contact": "https://crawler.example/about",
        "allow_networks": (ip_network("127.0.0.1/32"),),
        "host_pause": 0.05,
    }
    return settings.model_copy(update=changes)


def wanted(url: str, key: str | None = None, **fields: Any) -> Sent:
    """Return a record of the topic fetches; by default, its key is the domain of the URL."""
    fetch = FetchRequest(url=url, **fields)
    domain = Schemes(Settings.model_validate({})).domain(fetch.target)
    return Sent("fetches", (key or domain).encode(), fetches.encode(fetch))


def reaching(settings: Settings, pages: Web, **changes: Any) -> Settings:
    """Return settings with which a request to any host reaches this server."""
    tls = (f":443:127.0.0.1:{pages.tls_port}",) if pages.tls_port else ()
    reach = {
        "connect_to": (*tls, f"::127.0.0.1:{pages.port}"),
        "requests_per_address": 1_000,
        "requests_per_domain_second": 1_000,
    }
    return settings.model_copy(update={**reach, **changes})


def fetch(settings: Settings, pages: Web, **changes: Any) -> Fetch:
    """Run a worker of `fetch` until it has finished all records, and return the worker."""
    found: list[Fetch] = []

    async def through() -> None:
        async with serving(pages), started(reaching(settings, pages, **changes), Fetch) as stages:
            found.extend(stage for stage in stages if isinstance(stage, Fetch))
            await idle(stages)

    run(through())
    return found[0]


def letters(read_all: ReadAll) -> list[tuple[str, str]]:
    """Return the reason and the message of each dead letter."""
    found = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    return [(str(letter.reason), letter.message) for letter in found]


def reasons(read_all: ReadAll) -> dict[str, str]:
    """Return the reason of each dead letter by the URL of its page."""
    found = [DeadLetter.from_record(r.key, r.value, r.headers) for r in read_all("dead-letters")]
    return {fetches.decode(letter.original.value).url: str(letter.reason) for letter in found}


def pages_of(read_all: ReadAll) -> list[Any]:
    """Return the pages in the topic raw-html."""
    return [raw_html.decode(r.value, r.headers) for r in read_all("raw-html")]
