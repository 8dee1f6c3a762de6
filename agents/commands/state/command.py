"""`python -m agents state dump|restore FILE`: write the job's state to a file, and read it back."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO, cast

import click
import orjson

from agents.commands.state.dump import SOURCES, dump
from agents.commands.state.file import DumpHeader, DumpReader
from agents.commands.state.restore import Restored, restore
from agents.settings.job import Settings, SettingsError, load_settings

_STANDARD = "-"


@click.group()
def state() -> None:
    """Dump the state of all stages to a file, or restore it."""


@state.command("dump")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object, to standard error if FILE is `-`.",
)
def dump_command(*, file: str, as_json: bool) -> None:
    """Write tables and waiting records to FILE ("-" for standard output).

    Workers may run during the dump. FILE must not exist yet; it appears when the dump is complete.
    """
    settings = load_settings()
    with _open_atomically(file) as out:
        counts = asyncio.run(dump(settings, out))
    text = orjson.dumps({"records": counts}).decode() if as_json else _table(counts)
    click.echo(text, err=file == _STANDARD)


@state.command("restore")
@click.argument(
    "file", metavar="FILE|-", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--stage",
    "stages",
    multiple=True,
    type=click.Choice(list(SOURCES)),
    help="Restore only this stage. Pass the option once for each stage. By default all stages are "
    "restored.",
)
@click.option(
    "--repartition",
    is_flag=True,
    help="Allow topics whose number of partitions differs from that of the dump.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def restore_command(
    *, file: str, stages: tuple[str, ...], repartition: bool, as_json: bool
) -> None:
    """Restore FILE ("-" for standard input) to a job without state.

    All tables must be empty, and no worker may run. The whole file is checked before the first row
    is written.
    """
    settings = load_settings()
    with _open_twice(file) as raw:
        reader = DumpReader(raw)
        done = asyncio.run(
            restore(settings, reader, stages or tuple(SOURCES), repartition=repartition)
        )
    if as_json:
        click.echo(orjson.dumps(done._asdict()))
    else:
        click.echo(_sentences(settings, reader.header, done))


@contextmanager
def _open_atomically(file: str) -> Iterator[BinaryIO]:
    """Open a temporary file, which gets its name only when it is complete.

    Raises:
        SettingsError: A file of this name exists.
    """
    if file == _STANDARD:
        yield sys.stdout.buffer
        return
    path = Path(file)
    part = path.with_name(f"{path.name}.part")
    _check_absent(path)
    try:
        with part.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        _check_absent(path)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _check_absent(path: Path) -> None:
    if path.exists():
        raise SettingsError(
            f"{path} exists, and a dump overwrites no file: choose another name, or delete it first"
        )


@contextmanager
def _open_twice(file: str) -> Iterator[BinaryIO]:
    """Open a file that can be read twice. Standard input is copied to a temporary file first."""
    if file != _STANDARD:
        with click.open_file(file, "rb") as raw:
            yield cast("BinaryIO", raw)
        return
    with TemporaryFile() as copy:
        try:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        except OSError as error:
            raise SettingsError(
                f"standard input cannot be copied to a temporary file in {gettempdir()}: "
                f"{error.strerror}; set TMPDIR to a directory with more room"
            ) from None
        yield cast("BinaryIO", copy)


def _table(counts: Mapping[str, int]) -> str:
    lines = [f"{count:>10}  {topic}" for topic, count in sorted(counts.items())]
    return "\n".join([*lines, f"{sum(counts.values()):>10}  records"])


def _sentences(settings: Settings, made: DumpHeader, done: Restored) -> str:
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(made.made))
    lines = [_table(done.records), f"dumped at {when} by urltree {made.release}"]
    if done.is_back:
        lines.append("committed offsets were set back to the dump; later records are read again")
        lines += [
            f"{n} later records of {topic} are lost: their retention has ended"
            for topic, n in done.gone.items()
        ]
    else:
        lines.append(
            f"moved from prefix {made.prefix!r} to {settings.prefix!r}; workers may start now"
        )
    return "\n".join(lines)
