"""With `revisits` set to `replace`, a newer version of a page replaces the one before it.

An older version never replaces a newer one.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.commands.audit.command import account
from agents.commands.audit.ledger import Accounts
from agents.kafka.partitions import partition_of
from agents.settings.job import Settings
from models import clean_text, duplicate, raw_html
from models.headers.names import ORIGIN
from tests.agents.records import PARTITIONS, Publish, ReadAll, Sent
from tests.agents.workers import work
from urltree.page import Page

pytestmark = pytest.mark.kafka

KEY = b"example.org"
HERE = partition_of(KEY, PARTITIONS)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers that replace older versions, with their own data directory."""
    return settings.model_copy(
        update={"data_dir": tmp_path, "commit_seconds": 0.3, "revisits": "replace"}
    )


def version(text: str, **fields: Any) -> bytes:
    """Return the record value of one version of a page."""
    return raw_html.encode(Page(url="https://example.org/live", html=f"<p>{text}</p>", **fields))


def raw(text: str, origin: str | None = None, **fields: Any) -> Sent:
    """Return a record of raw-html; if an origin is given, the record is a copy, as in a replay."""
    headers = [] if origin is None else [(ORIGIN, origin.encode())]
    return Sent("raw-html", KEY, version(text, **fields), headers)


def test_a_changed_page_takes_its_place_and_an_older_version_does_not(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A changed page is published under the same id; a replay of its older version is superseded.

    Both stages report the older version in the same way.
    """
    first, second, same = publish(raw("amber"), raw("birch"), raw("birch"))
    work(job)
    older, _ = read_all("documents")
    publish(raw("amber", first), Sent("documents", KEY, older.value, partition=HERE))
    work(job)
    records = read_all("clean-text")
    texts = [clean_text.decode(record.value) for record in records]
    assert [(text["origin"], text["text"]) for text in texts] == [
        (first, "amber"),
        (second, "birch"),
    ]
    assert len({record.key for record in records}) == 1
    found = [duplicate.decode(record.value) for record in read_all("duplicates")]
    assert {(each.origin, each.first_origin, str(each.step)) for each in found} == {
        (same, second, "request-url"),
        (first, second, "superseded"),
    }
    assert len({each for each in found if each.origin == first}) == 1, "both stages report the same"
    assert len(found) == 3
    assert asyncio.run(account(job)) == Accounts(
        origins=3, clean_text=2, duplicates={"request-url": 1}
    )


def test_between_partitions_the_time_of_a_version_counts(
    job: Settings, publish: Publish, read_all: ReadAll
) -> None:
    """A version that arrives later from another partition is superseded if it was fetched first."""
    away = (HERE + 1) % PARTITIONS
    (newer,) = publish(raw("birch", fetched_at="2026-01-02T00:00:00Z"))
    work(job)
    older = raw("amber", fetched_at="2026-01-01T00:00:00Z")._replace(key=None, partition=away)
    (origin,) = publish(older)
    work(job)
    (text,) = read_all("clean-text")
    assert clean_text.decode(text.value)["origin"] == newer
    (found,) = map(duplicate.decode, [record.value for record in read_all("duplicates")])
    assert (found.origin, found.first_origin, str(found.step)) == (origin, newer, "superseded")
    assert asyncio.run(account(job)) == Accounts(origins=2, clean_text=1, superseded=1)
