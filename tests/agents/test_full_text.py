"""Full text from a feed on a real Kafka: published, restored and forgotten as any page."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import TopicPartition
from jsonschema import Draft202012Validator

from agents.commands.forget import forget, resolve
from agents.commands.state.dump import SOURCES, dump
from agents.commands.state.file import DumpReader
from agents.commands.state.restore import restore
from agents.commands.topics import apply
from agents.extract import Extract
from agents.kafka.groups import rewind
from agents.normalize import Normalize
from agents.settings.job import Settings
from models import clean_text, raw_html
from tests.agents.learned import records, rows
from tests.agents.records import PARTITIONS, Publish, Sent
from tests.agents.workers import BOTH, PATIENCE, started, work
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.page import Page
from urltree.site.site import Site

pytestmark = pytest.mark.kafka

SCHEMA = orjson.loads((Path(__file__).parents[2] / "models/schemas/clean-text.json").read_bytes())
IMPRINT = "Imprint and contact of this paper, which stands below every page."
WORDS = ("amber", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel")
PAGES = {word: f"<p>This page is about {word}.<p>{IMPRINT}" for word in WORDS}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path / "disk", "commit_seconds": 0.3})


def page(word: str, **fields: Any) -> Sent:
    """Return the record of a page of example.org; with `content_from`, that of a full text."""
    url = f"https://example.org/{fields.get('content_from', 'page')}/{word}"
    value = raw_html.encode(Page(url=url, html=PAGES[word], **fields))
    return Sent("raw-html", b"example.org", value)


def mixed() -> list[Sent]:
    """Return pages and full texts in turn."""
    return [one for word in WORDS for one in (page(word, content_from="feed"), page(word))]


def texts(job: Settings) -> dict[str, Any]:
    """Return the last clean text of each URL, except those that a tombstone has deleted."""
    last = {record.key: record.value for record in records(job, "clean-text")}
    decoded = (clean_text.decode(value) for value in last.values() if value is not None)
    return {text["url"].removeprefix("https://example.org/"): text for text in decoded}


def site_of(job: Settings) -> Site:
    """Return the site that is rebuilt from the rows of the stage `extract`."""
    site = Site(heuristic(DEFAULT), None)
    stored = rows(job).items()
    site.rebuild([(key[-16:], row) for (table, key), row in stored if table == "extract-rows"])
    return site


def test_a_full_text_is_published_beside_pages_that_do_not_know_it(
    job: Settings, publish: Publish
) -> None:
    """Full texts keep all blocks, fit the schema, and are not in the tree of their site."""
    publish(*mixed())
    work(job)
    found = texts(job)
    assert found["feed/hazel"]["text"] == f"This page is about hazel.\n{IMPRINT}"
    assert found["feed/hazel"]["content_from"] == "feed"
    assert found["page/hazel"]["text"] == "This page is about hazel."
    assert "content_from" not in found["page/hazel"]
    for text in found.values():
        Draft202012Validator(SCHEMA).validate(text)
    site = site_of(job)
    assert (len(site.tree), len(site.window), len(site.unjudged)) == (8, 8, 8)
    assert [found[f"page/{word}"]["support"] for word in WORDS] == list(range(1, 9))


def test_a_replay_and_a_restored_dump_change_nothing(job: Settings, publish: Publish) -> None:
    """If all pages are read again, from a restored dump too, rows and texts are the same bytes."""
    publish(*mixed())
    work(job)
    before, stored = texts(job), rows(job)
    assert len(before) == 2 * len(WORDS)
    for stage in (Normalize, Extract):
        (topic,) = stage.reads
        begin = {TopicPartition(job.topic(topic), p): 0 for p in range(PARTITIONS)}
        asyncio.run(rewind(job, stage.name, begin))
    out = io.BytesIO()
    asyncio.run(dump(job, out))
    update = {"prefix": f"{job.prefix}b-", "data_dir": job.data_dir.with_name("other")}
    other = job.model_copy(update=update)
    asyncio.run(apply(other))
    reader = DumpReader(io.BytesIO(out.getvalue()))
    asyncio.run(restore(other, reader, tuple(SOURCES), repartition=False))
    for one in (job, other):
        work(one)
        assert (texts(one), rows(one)) == (before, stored)
        assert records(one, "duplicates") == []


def test_a_full_text_is_forgotten(job: Settings, publish: Publish) -> None:
    """`forget` deletes the clean text and the rows of full texts, alone or with their domain."""
    publish(*mixed())
    work(job)

    async def scenario(*targets: str) -> None:
        async with started(job, *BOTH):
            for target in targets:
                assert (await forget(job, await resolve(job, target), wait=PATIENCE)).answered

    asyncio.run(scenario("https://example.org/feed/elm"))
    assert len(texts(job)) == 15
    assert len(site_of(job).unjudged) == 7
    asyncio.run(scenario("example.org"))
    assert texts(job) == {}
    assert rows(job) == {}
