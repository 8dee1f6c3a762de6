"""The command `state` writes a job's state to a dump, and restores the state from a dump."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
import zstandard
from aiokafka import TopicPartition

from agents.commands.state.dump import SOURCES, dump
from agents.commands.state.file import DumpHeader, DumpReader, DumpRecord, DumpWriter
from agents.commands.state.restore import restore
from agents.commands.topics import apply
from agents.extract import Extract
from agents.kafka.groups import rewind
from agents.kafka.partitions import partition_of
from agents.normalize import Normalize
from agents.settings.job import Settings, SettingsError
from deploy.tools.reference import stages
from models.crawl import fetch
from models.crawl import rule as rules
from models.crawl.fetch import FetchRequest
from tests.agents.learned import SITES, TABLES, declare, page, pages, records, rows, values
from tests.agents.records import PARTITIONS, Publish, Run, Sent
from tests.agents.workers import started, work
from urltree.crawl.decisions.rules.rule import CrawlRule, Extent, RuleKey

HEADER = DumpHeader("0.1.0", 0.0, "a-cluster", "", PARTITIONS)
ROW = DumpRecord(
    "urltree-extract-rows-changelog", 3, 17, 1_000, b"k", None, (("h", None), ("i", b""))
)


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of workers with their own data directory."""
    return settings.model_copy(update={"data_dir": tmp_path / "disk", "commit_seconds": 0.3})


def moved(job: Settings) -> Settings:
    """Create the topics of a job with another prefix, and return the job's settings."""
    other = job.model_copy(
        update={"prefix": f"{job.prefix}b-", "data_dir": job.data_dir.with_name("other")}
    )
    asyncio.run(apply(other))
    return other


def file_of(job: Settings) -> bytes:
    """Return the bytes of a dump of the job."""
    out = io.BytesIO()
    asyncio.run(dump(job, out))
    return out.getvalue()


def put(job: Settings, file: bytes, *wanted: str, repartition: bool = False) -> dict[str, int]:
    """Restore a dump, and return the number of restored records of each topic."""
    reader = DumpReader(io.BytesIO(file))
    done = restore(job, reader, wanted or tuple(SOURCES), repartition=repartition)
    return asyncio.run(done).records


def written(*records: DumpRecord) -> bytes:
    """Return the bytes of a dump that contains these records."""
    out = io.BytesIO()
    writer = DumpWriter(out, HEADER)
    for stored in records:
        writer.add(stored)
    writer.end()
    return out.getvalue()


def test_a_file_says_what_was_written() -> None:
    """Reading a dump gives the records that were written; null and an empty value differ."""
    bare = ROW._replace(key=None, value=b"", timestamp=-1, headers=())
    reader = DumpReader(io.BytesIO(written(ROW, bare)))
    assert reader.header == HEADER
    assert list(reader) == [ROW, bare]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (
            lambda file: file[: len(file) // 2],
            "cannot be read|without its last line|not written by",
        ),
        (lambda _: b"<p>A page</p>", "cannot be read"),
        (lambda _: b"", "not written by `state dump`"),
    ],
    ids=["cut off", "another file", "empty"],
)
def test_a_file_that_is_no_whole_dump_is_refused(spoil: Any, says: str) -> None:
    """An incomplete dump or a file that is not a dump is refused with the reason."""
    file = spoil(written(*[ROW] * 1000))
    with pytest.raises(SettingsError, match=says):
        list(DumpReader(io.BytesIO(file)))


def test_a_dump_that_ends_between_two_lines_is_refused() -> None:
    """A dump without its last line is refused, even if the file is complete for zstd."""
    out = io.BytesIO()
    writer = DumpWriter(out, HEADER)
    writer.add(ROW)
    writer._out.flush()
    with pytest.raises(SettingsError, match="ends after 1 records without its last line"):
        list(DumpReader(io.BytesIO(out.getvalue())))


def test_a_dump_knows_what_each_stage_reads() -> None:
    """A dump contains every topic that a stage reads."""
    assert {stage.name: tuple(stage.reads) for stage in stages()} == dict(SOURCES)


def packed(*lines: bytes) -> bytes:
    """Return a file with these lines in the form of a dump."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(b"\n".join(lines) + b"\n")


def lines_of(file: bytes) -> list[bytes]:
    """Return the lines of a dump."""
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(file)) as plain:
        return plain.readall().splitlines()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda a, row, _: [a, row, row, b'{"records":1}'], "after 2 records it has the line"),
        (lambda a, row, z: [a, row, z, row], "after 1 records it has the line"),
        (lambda a, row, z: [a, row[:-9], z], "the line after 0 records is not a record"),
        (lambda a, row, z: [a, row.replace(b"aw==", b"a?=="), z], "is not a record"),
        (lambda a, row, z: [a, row.replace(b'"offset"', b'"o"'), z], "is not a record"),
        (lambda a, row, z: [a.replace(b'"prefix"', b'"p"'), row, z], "not written by"),
        (lambda *_: [b"[]"], "not written by"),
    ],
    ids=["count", "more", "JSON", "base64", "field", "header", "list"],
)
def test_a_damaged_line_is_refused(spoil: Any, says: str) -> None:
    """A line that is not a record, or a wrong number of records, is an error in one sentence."""
    file = packed(*spoil(*lines_of(written(ROW))))
    with pytest.raises(SettingsError, match=says):
        list(DumpReader(io.BytesIO(file)))


def test_a_damaged_byte_is_found_by_the_checksum() -> None:
    """A changed byte is an error, even in a part that zstd stores uncompressed."""
    file = bytearray(written(ROW))
    file[-1] ^= 1
    with pytest.raises(SettingsError, match="damaged"):
        list(DumpReader(io.BytesIO(bytes(file))))


@pytest.mark.kafka
def test_nothing_of_a_damaged_dump_is_restored(job: Settings, publish: Publish) -> None:
    """A restore checks the whole dump, up to its last line, before it writes the first row."""
    publish(*pages(1))
    work(job)
    first, *between, last = lines_of(file_of(job))
    other = moved(job)
    for spoilt in ([first, *between], [first, *between, b"{}", last]):
        with pytest.raises(SettingsError, match=r"without its last line|is not a record"):
            put(other, packed(*spoilt))
    for topic in ("raw-html", "documents", *(f"urltree-{name}-changelog" for name in TABLES)):
        assert records(other, topic) == []


@pytest.mark.kafka
def test_a_page_between_two_stages_is_not_lost(job: Settings, publish: Publish) -> None:
    """A page that only `normalize` has processed is restored from its document.

    Without the document, the page would never become clean text, because `seen` contains the page.
    """
    publish(*pages(1))
    work(job, Normalize)
    other = moved(job)
    assert put(other, file_of(job))["documents"] == len(SITES)
    work(other)
    assert len(values(other, "clean-text")) == len(SITES)


@pytest.mark.kafka
def test_a_page_that_rows_know_and_offsets_do_not_is_a_replay(
    job: Settings, publish: Publish
) -> None:
    """A page with a row but without a committed offset is a replay after a restore.

    Such pages exist after a crash and in a dump of running workers. They keep their origin.
    """
    origins = publish(*pages(1))
    work(job)
    for stage in (Normalize, Extract):
        (topic,) = stage.reads
        begin = {TopicPartition(job.topic(topic), p): 0 for p in range(PARTITIONS)}
        asyncio.run(rewind(job, stage.name, begin))
    before, other = rows(job), moved(job)
    put(other, file_of(job))
    work(other)
    assert rows(other) == before
    assert values(other, "duplicates") == []
    said = {text["origin"] for text in values(other, "clean-text")}
    assert said == set(origins)


@pytest.mark.kafka
def test_each_record_goes_to_the_partition_of_its_domain_or_site(
    job: Settings, publish: Publish, tmp_path: Path
) -> None:
    """With more partitions, a restore sends each record to the partition of its domain or site.

    A key that contains no domain is hashed as a whole.
    """
    belongs = {
        ("feeds", b"a.example https://a.example/feed"): b"a.example",
        ("poll-outcomes", b"b.example"): b"b.example",
        ("fetches", b"c.example"): b"c.example",
        ("raw-html", b"a key"): b"a key",
        ("documents", b"d.example"): b"d.example",
        ("urltree-poll-feed_state-changelog", b"e.example\0hash"): b"e.example",
        ("urltree-fetch-host_state-changelog", b"f.example\0\0\1"): b"f.example",
    }
    publish(*[Sent(topic, key, b"{}") for topic, key in belongs])
    twelve = declare(job, 12, tmp_path / "topics-12.yaml")
    other = moved(job.model_copy(update={"topics_file": twelve}))
    put(other, file_of(job), repartition=True)
    found = {(t, r.key): r.partition for t in {t for t, _ in belongs} for r in records(other, t)}
    assert found == {place: partition_of(key, 12) for place, key in belongs.items()}


@pytest.mark.kafka
def test_state_is_never_mixed_with_other_state(job: Settings, publish: Publish) -> None:
    """A restore is refused if a table already has rows; the error names the table."""
    publish(page(SITES[0], 1))
    work(job)
    file, before = file_of(job), rows(job)
    with pytest.raises(SettingsError, match=r"urltree-\w+-\w+-changelog contains rows, but a dump"):
        put(job, file)
    assert rows(job) == before


@pytest.mark.kafka
def test_state_is_never_restored_below_a_running_worker(job: Settings) -> None:
    """A restore is refused while a worker runs, because the worker would not read the new rows."""
    file = file_of(job)

    async def scenario() -> None:
        async with started(job, Normalize):
            with pytest.raises(SettingsError, match=r"normalize has 1 running worker\(s\): stop"):
                await restore(job, DumpReader(io.BytesIO(file)), tuple(SOURCES), repartition=False)

    asyncio.run(scenario())


@pytest.mark.kafka
def test_topics_are_made_before_a_restore(job: Settings) -> None:
    """A restore is refused if a topic is missing: a broker could create it with other settings."""
    nowhere = job.model_copy(update={"prefix": f"{job.prefix}nowhere-"})
    with pytest.raises(
        SettingsError, match="does not exist; run `python -m agents topics apply` first"
    ):
        put(nowhere, file_of(job))


@pytest.mark.kafka
def test_a_dump_appears_whole_or_not_at_all(job: Settings, run: Run, tmp_path: Path) -> None:
    """A dump that fails leaves no partial file, and no dump overwrites a file."""
    file = tmp_path / "state.jsonl.zst"
    with pytest.raises(SettingsError, match="does not exist"):
        run("state", "dump", str(file), env={"URLTREE_PREFIX": f"{job.prefix}nowhere-"})
    assert not list(tmp_path.glob("state*"))
    assert run("state", "dump", str(file), "--json").stdout == '{"records":{}}\n'
    first = file.read_bytes()
    with pytest.raises(SettingsError, match="exists, and a dump overwrites no file"):
        run("state", "dump", str(file))
    assert file.read_bytes() == first
    assert [path.name for path in tmp_path.glob("state*")] == [file.name]


@pytest.mark.kafka
def test_a_dump_is_restored_from_standard_input(job: Settings, publish: Publish, run: Run) -> None:
    """A dump that comes from standard input is checked before it is restored, too."""
    publish(*pages(1))
    work(job)
    file, other = file_of(job), moved(job)
    environment = {"URLTREE_PREFIX": other.prefix}
    with pytest.raises(SettingsError, match=r"damaged|without its last|not written by"):
        run("state", "restore", "-", input=file[:-20], env=environment)
    assert rows(other) == {}
    assert run("state", "restore", "-", input=file, env=environment).exit_code == 0
    assert len(rows(other)) == len(rows(job))


def rule(text: str, before: int | None = None) -> Sent:
    """Return the record of a rule; with `before`, it covers fetches up to this offset."""
    fetches = None if before is None else Extent("f" * 32, (before,) * PARTITIONS)
    made = CrawlRule(RuleKey.parse(text), set_at=1.0, fetches=fetches, feeds=("e" * 32, 5))
    return Sent("rules", text.encode(), rules.encode(made))


def fetch_of(url: str, **changes: Any) -> Sent:
    """Return the record of a page that waits."""
    return Sent("fetches", b"example.org", fetch.encode(FetchRequest(url=url, **changes)), (), 0)


def waiting(job: Settings) -> dict[str, int | None]:
    """Return the addresses of the waiting pages, with the offset of their feed's addition."""
    found = [fetch.decode(record.value) for record in records(job, "fetches")]
    return {wanted.url: wanted.feed_offset for wanted in found}


@pytest.mark.kafka
def test_rules_move_to_another_prefix_and_cover_what_waited(
    job: Settings, publish: Publish
) -> None:
    """Elsewhere, deny rules are written; removed and purged pages are left out of the dump.

    Offsets of feeds have no meaning there, so those of the other pages become 0.
    """
    feed = "https://example.org/feed"
    publish(
        rule("deny host example.net"),
        rule("purge host example.org", before=1),
        rule(f"remove feed example.org {feed}", before=0),
        fetch_of("https://example.org/purged"),
        fetch_of("https://example.org/later", feed=feed, site="example.org", feed_offset=9),
        fetch_of("https://other.example/removed", feed=feed, site="example.org", feed_offset=4),
    )
    other = moved(job)
    put(other, file_of(job))
    assert waiting(other) == {"https://example.org/later": 0}
    assert [record.key for record in records(other, "rules")] == [b"deny host example.net"]


@pytest.mark.kafka
def test_rules_of_a_dump_do_not_come_back(job: Settings, publish: Publish) -> None:
    """On the same topics, rules are written only if there is none: an ended rule stays ended."""
    old, new = rule("deny host old.example"), rule("deny host new.example")
    purge = rule("purge all -", before=3)
    publish(old, purge)
    file = file_of(job)
    publish(old._replace(value=None), new)
    assert "rules" not in put(job, file)
    publish(new._replace(value=None), purge._replace(value=None))
    assert put(job, file)["rules"] == 2
    assert "rules" not in put(job, file, "extract")
