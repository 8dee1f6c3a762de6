"""Run schedules of faults: `python -m tests.chaos`, or `make chaos`."""

from __future__ import annotations

import json
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import SystemRandom
from typing import Any

import click

from tests.chaos.plan import make_plan
from tests.chaos.schedule import Run

SHORTEST, LONGEST = 120, 300  # seconds of load of a schedule, unless --seconds is given
SHOWN = 10  # number of complaints that are printed; the file has all of them


@click.command()
@click.option("--runs", "-n", default=1, show_default=True, help="Number of schedules.")
@click.option("--seed", type=int, help="Seed of the first schedule; by default a random one.")
@click.option("--seconds", type=float, help="Seconds of load; by default 2 to 5 minutes, by seed.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("chaos.jsonl"),
    show_default=True,
    help="File to which a line of JSON is added for each schedule.",
)
@click.option("--plan", "only_plan", is_flag=True, help="Print the schedules, and run nothing.")
def main(*, runs: int, seed: int | None, seconds: float | None, out: Path, only_plan: bool) -> None:
    """Run schedules of faults one after the other, and account for every input.

    The same seed gives the same inputs and the same faults. The exit code is 1 if an input was
    lost, a count is wrong, or a text differs from the library's. Logs and records of such a
    schedule are kept.
    """
    failed = []
    for number in range(runs):
        own = SystemRandom().randrange(10**6) if seed is None else seed + number
        load = seconds or float(SHORTEST + own * 7919 % (LONGEST - SHORTEST + 1))
        plan = make_plan(own, load)
        click.echo(plan.describe())
        again = f"make chaos N=1 SEED={own}" + (f" SECONDS={seconds:g}" if seconds else "")
        click.echo(f"replay with: {again}")
        if only_plan:
            continue
        directory = Path(tempfile.mkdtemp(prefix=f"urltree-chaos-{own}-"))
        started = time.monotonic()
        try:
            result = Run(plan, directory, _say).run()
        except Exception as error:  # noqa: BLE001 - the next schedules run all the same
            traceback.print_exc()
            line = f"FAILED seed {own}: {type(error).__name__}: {str(error)[:300]}"
            record: dict[str, Any] = {"seed": own, "ok": False, "error": repr(error)}
            record["seconds"] = round(time.monotonic() - started, 1)
        else:
            line, record = result.line(), result.record()
            if result.complaints:
                (directory / "records.pickle").write_bytes(pickle.dumps(result.topics))
            for reason in result.skipped:
                click.echo(f"skipped: {reason}")
            for complaint in result.complaints[:SHOWN]:
                click.echo(f"wrong: {complaint}")
        click.echo(line)
        with out.open("a") as file:
            file.write(json.dumps({**record, "replay": again}) + "\n")
        if record["ok"]:
            shutil.rmtree(directory, ignore_errors=True)
        else:
            failed.append(own)
            click.echo(f"logs of seed {own} are in {directory}")
    if failed:
        click.echo(f"{len(failed)} of {runs} schedules failed; seeds {failed}")
    sys.exit(bool(failed))


def _say(message: str) -> None:
    click.echo(f"{time.strftime('%H:%M:%S')} {message}")


if __name__ == "__main__":
    # SIGTERM ends a schedule as Ctrl-C does, so that its disks are unmounted
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main(prog_name="python -m tests.chaos")
