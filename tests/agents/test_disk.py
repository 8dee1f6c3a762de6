"""A damaged disk heals itself; a disk that refuses ends the worker with a sentence."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition
from rocksdict import AccessType, Options, Rdict

from agents.app import make_app, make_table
from agents.extract import Extract
from agents.kafka.tables.damage import DamageError, DiskError, StoreError, is_damage, is_locked
from agents.kafka.tables.store import DAY, Store
from agents.kafka.tables.table import row_key
from agents.settings.job import Settings
from tests.agents.workers import is_ready, run, started, until

ROWS = 3_000
VALUE = 500  # bytes of a row
FLUSHED = (1_000, 2_000, 2_900)  # rows after which RocksDB writes a table file
PLACE = TopicPartition("rows-changelog", 0)

Damage = Callable[[Path], None]


def flip(path: Path) -> None:
    """Invert a byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def cut(path: Path) -> None:
    """Remove the second half of a file."""
    os.truncate(path, path.stat().st_size // 2)


def remove(path: Path) -> None:
    """Delete a file."""
    path.unlink()


def make_store(directory: Path) -> Store:
    """Return the store of a table that no worker uses."""
    settings = Settings.model_validate({"data_dir": directory})
    store: Store = make_table(make_app(settings, "extract"), "rows").data
    return store


def wiped(store: Store, reason: str) -> float:
    """Return how many partitions were wiped for a reason, as the metric counts them."""
    return float(store.app.metrics.tables_wiped.labels(reason)._value.get())


def key(number: int) -> bytes:
    """Return the key of a row."""
    return row_key("example.org", number.to_bytes(16, "big"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return the directory of a killed worker: rows in SST files, and the last ones in the log."""
    store = make_store(tmp_path / "running")
    for number in range(ROWS):
        store.put(0, key(number), os.urandom(VALUE))
        store.set_persisted_offset(PLACE, number)
        if number in FLUSHED:
            store._dbs[0].flush()
    store.mark()
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "running", killed)
    close(store)
    return killed


def close(store: Store) -> None:
    """Close the databases of a store."""
    store._dbs.clear()
    gc.collect()


def file_of(directory: Path, pattern: str) -> Path:
    """Return the newest file of partition 0 that matches a pattern."""
    [path] = directory.rglob("rows-0.db")
    return max(path.glob(pattern))


@pytest.mark.parametrize("damage", [flip, cut, remove])
@pytest.mark.parametrize("pattern", ["MANIFEST-*", "CURRENT"])
def test_damage_that_open_finds_is_wiped(directory: Path, pattern: str, damage: Damage) -> None:
    """A partition whose files RocksDB cannot open is wiped, so that it is restored from Kafka."""
    damage(file_of(directory, pattern))
    store = make_store(directory)
    assert store.persisted_offset(PLACE) is None
    assert list(store.scan(0, b"")) == []
    assert (wiped(store, "damaged"), wiped(store, "unused")) == (1, 0)
    store.put(0, key(1), b"again")
    assert store.get(0, key(1)) == b"again"


def test_a_manifest_cut_between_two_entries_is_wiped(directory: Path) -> None:
    """A database that RocksDB opens without its newest table files is wiped."""
    manifest = file_of(directory, "MANIFEST-*")
    whole = manifest.read_bytes()
    for size in range(len(whole) // 3, len(whole), len(whole) // 6):
        manifest.write_bytes(whole[:size])
        copy = directory.with_name(f"cut-{size}")
        shutil.copytree(directory, copy)
        store = make_store(copy)
        assert store.persisted_offset(PLACE) is None
        assert wiped(store, "damaged") == 1
        close(store)


def test_a_worker_accepts_what_was_written_after_its_last_mark(directory: Path) -> None:
    """A disk whose MANIFEST has grown since the last mark is used as it is."""
    store = make_store(directory)
    for number in range(10):
        store.put(0, key(number), b"new")
        store._dbs[0].flush()
    close(store)
    again = make_store(directory)
    assert again.persisted_offset(PLACE) == ROWS - 1
    assert again.get(0, key(9)) == b"new"


def test_a_damaged_marker_file_wipes_and_that_of_an_earlier_release_does_not(
    directory: Path,
) -> None:
    """A marker file that is empty is that of an earlier release; any other text is damage."""
    [mark] = directory.rglob("rows-0.db.in-use")
    mark.write_text("")
    store = make_store(directory)
    assert store.persisted_offset(PLACE) == ROWS - 1
    close(store)
    mark.write_text("MANIF\ufffd")
    store = make_store(directory)
    assert store.persisted_offset(PLACE) is None
    assert wiped(store, "damaged") == 1


@pytest.mark.parametrize("damage", [cut, remove])
def test_a_cut_or_missing_table_file_is_wiped(directory: Path, damage: Damage) -> None:
    """The size and existence of each SST file are checked at open."""
    damage(file_of(directory, "*.sst"))
    store = make_store(directory)
    assert store.persisted_offset(PLACE) is None
    assert wiped(store, "damaged") == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda store: [store.get(0, key(number)) for number in range(ROWS)],
        lambda store: list(store.scan(0, b"")),
    ],
    ids=["get", "scan"],
)
def test_a_flipped_bit_is_found_at_the_read_and_wiped_at_the_next_start(
    directory: Path, read: Callable[[Store], Any]
) -> None:
    """A read of a damaged block raises an error, and the next start wipes the partition.

    Faust's scan, rocksdict's `items`, ends at such a block as if there were no more rows.
    """
    flip(file_of(directory, "*.sst"))
    store = make_store(directory)
    assert store.persisted_offset(PLACE) is not None
    with pytest.raises(DamageError, match=r"block checksum mismatch.*the next start restores"):
        read(store)
    close(store)
    again = make_store(directory)
    assert again.persisted_offset(PLACE) is None
    assert wiped(again, "damaged") == 1
    close(again)
    third = make_store(directory)
    third.get(0, key(1))
    assert wiped(third, "damaged") == 0


@pytest.mark.parametrize("damage", [flip, cut, remove])
@pytest.mark.parametrize("pattern", ["*.log", "OPTIONS-*"])
def test_other_damage_leaves_a_prefix_of_the_changelog(
    directory: Path, pattern: str, damage: Damage
) -> None:
    """A damaged log loses the last rows together with the offset that covers them."""
    damage(file_of(directory, pattern))
    store = make_store(directory)
    offset = store.persisted_offset(PLACE)
    assert offset is not None
    rows = len(list(store.scan(0, b"")))
    assert rows in {offset + 1, offset + 2}  # the row is written before its offset
    assert wiped(store, "damaged") == 0


@pytest.mark.parametrize("age", [61 * DAY, -2 * DAY], ids=["too old", "in the future"])
def test_a_marker_file_that_proves_nothing_wipes(directory: Path, age: float) -> None:
    """A marker file whose time is too old or in the future does not prove that the disk is used."""
    [mark] = directory.rglob("rows-0.db.in-use")
    at = mark.stat().st_mtime - age
    os.utime(mark, (at, at))
    store = make_store(directory)
    assert store.persisted_offset(PLACE) is None
    assert wiped(store, "unused") == 1


@pytest.mark.parametrize(
    "text",
    [
        "IO error: No space left on device: While appending to file: /d/000012.log",
        "IO error: Read-only file system: While mkdir if missing: /d",
        "IO error: Permission denied: While open a file for lock: /d/LOCK",
        "IO error: Input/output error: While pread offset 0 len 4096: /d/000012.sst",
        "Corruption: IO error: Input/output error: While pread: /d/000012.sst",
    ],
)
def test_a_disk_that_refuses_is_not_damage(
    directory: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wiped if the disk is full, read-only, forbidden or broken; the error says so."""

    def refuse(*_: object, **__: object) -> Iterator[None]:
        raise Exception(text)  # noqa: TRY002 - as rocksdict does

    store = make_store(directory)
    monkeypatch.setattr("faust.stores.rocksdb.RocksDBOptions.open", refuse)
    with pytest.raises(DiskError, match=r"the disk refuses to read from .*rows-0\.db|to open"):
        store.get(0, key(1))
    monkeypatch.undo()
    assert store.get(0, key(1)) is not None
    assert wiped(store, "damaged") == 0


def test_a_bug_is_not_damage(directory: Path) -> None:
    """An error that does not come from RocksDB's files wipes nothing."""
    store = make_store(directory)
    with pytest.raises(StoreError) as found:
        store.put(0, "text", b"")  # type: ignore[arg-type]
    assert type(found.value) is StoreError
    assert not is_damage(TypeError("Corruption"))
    assert not list(directory.rglob("*.damaged"))


def test_an_open_database_is_not_damage(directory: Path) -> None:
    """A database that is still open elsewhere is locked, not damaged."""
    store = make_store(directory)
    store.get(0, key(1))
    with pytest.raises(Exception, match="lock") as found:
        Rdict(str(store.partition_path(0)), Options(raw_mode=True), None, AccessType.read_write())
    assert is_locked(found.value)
    assert not is_damage(found.value)


@pytest.mark.kafka
def test_a_worker_restores_a_damaged_disk(job: Settings, tmp_path: Path) -> None:
    """A worker that finds damaged files at start restores the rows from the changelog."""
    job = job.model_copy(update={"data_dir": tmp_path})

    async def scenario() -> None:
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert isinstance(stage, Extract)
            for number in range(20):
                await (await stage.table.put(number % 2, key(number), b"kept"))
        cut(file_of(tmp_path, "CURRENT"))
        async with started(job, Extract) as [stage]:
            await until(lambda: is_ready(stage))
            assert isinstance(stage, Extract)
            assert all(stage.table.get(n % 2, key(n)) == b"kept" for n in range(20))
            assert wiped(stage.table.data, "damaged") == 1

    run(scenario())
