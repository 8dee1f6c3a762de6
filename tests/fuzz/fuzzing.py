"""The loop over inputs: in this process for tests, in watched processes for `make fuzz`.

    process 0 ─ inputs 0, 2, 4 … of every target ─┐
    process 1 ─ inputs 1, 3, 5 … of every target ─┴▶ Report: inputs, rate, slowest, failures

Each target gets the same CPU time, a slice in turn, so fast targets get more inputs. An input is
made from (seed, target, index) alone. A process writes the index of its input into shared memory
first, so that an input that kills the process or never ends is known, too.
"""

from __future__ import annotations

import logging
import resource
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from ctypes import c_uint64
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from time import process_time, sleep, thread_time
from typing import Any, NamedTuple

import psutil

from tests.fuzz import pages, records, state, web
from tests.fuzz.target import Target

TARGETS = {target.name: target for room in (pages, records, web, state) for target in room.TARGETS}

LIMIT = 2.0  # seconds of CPU for one input, none of which has more than 200 KB
_SLICE = 0.1  # seconds of CPU that a target gets in turn
_HANGS = 60.0  # seconds of CPU after which the input is taken for endless
_MOST_ENDS = 3  # how often a target may end its process before it is left out
_MEMORY = 3 << 30  # bytes of address space of a process
_KEPT = 8  # slowest inputs of a target that are measured again
_LOOK = 0.2  # seconds between two looks at the processes


class Failure(NamedTuple):
    """An input that raised an unexpected error, took too long, or ended its process."""

    target: str
    seed: int
    index: int
    problem: str

    def __str__(self) -> str:
        return f"{self.target}:{self.seed}:{self.index} {self.problem}"


class Timed(NamedTuple):
    """The CPU time of one input, in seconds, and its size in bytes."""

    seconds: float
    index: int
    size: int


@dataclass
class Tally:
    """What a process has done with one target."""

    inputs: int = 0
    seconds: float = 0.0
    slowest: list[Timed] = field(default_factory=list)
    failures: dict[str, Failure] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Add the tally of another process."""
        self.inputs += other.inputs
        self.seconds += other.seconds
        self.slowest = sorted([*self.slowest, *other.slowest], reverse=True)[:_KEPT]
        self.failures = other.failures | self.failures


def fuzz(target: Target, seed: int, indexes: Iterable[int], tally: Tally) -> Iterator[int]:
    """Run the inputs with these indexes; yield each index before its input is run."""
    random, edge = Random(), 0.0
    for index in indexes:
        yield index
        data = target.make(random, seed, index)
        before = thread_time()
        problem = problem_of(target, data)
        took = thread_time() - before
        tally.inputs += 1
        if took > edge:
            tally.slowest = sorted([*tally.slowest, Timed(took, index, len(data))])[-_KEPT:]
            edge = tally.slowest[0].seconds if len(tally.slowest) == _KEPT else 0.0
        if problem is None and took > LIMIT and seconds_of(target, data) > LIMIT:
            problem = f"took {took:.1f} s of CPU"
        if problem is not None:
            tally.failures.setdefault(problem, Failure(target.name, seed, index, problem))


def problem_of(target: Target, data: bytes) -> str | None:
    """Run an input; return the unexpected error and its place in the code, None if all is well."""
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001 - whatever a target raises is what we look for
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{type(error).__name__} in {where}: {place.line}"
    return None


def seconds_of(target: Target, data: bytes) -> float:
    """Return the CPU time of an input in seconds, the least of three runs."""
    times = []
    for _ in range(3):
        before = thread_time()
        problem_of(target, data)
        times.append(thread_time() - before)
    return min(times)


def make_quiet() -> None:
    """Silence the warnings and logs of parsers, which most inputs cause."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)


def run(names: list[str], number: int, seed: int, processes: int) -> dict[str, Tally]:
    """Fuzz the targets with `number` inputs in all, in several processes."""
    tallies = {name: Tally() for name in names}
    watched = [_Watched(names, number, seed, nth, processes) for nth in range(processes)]
    while any(one.look(tallies) for one in watched):
        sleep(_LOOK)
    return tallies


class _Watched:
    """A process that fuzzes its share of the inputs; it is started again after it was killed."""

    def __init__(self, names: list[str], number: int, seed: int, nth: int, processes: int) -> None:
        self._names, self._seed, self._step = names, seed, processes
        self._context = get_context("spawn")
        # the number of the target, and for each target the index of its current or next input
        self._at = self._context.RawArray(c_uint64, [0, *[nth] * len(names)])
        self._left = number // processes + (nth < number % processes)
        self._seen, self._since = (0, 0), 0.0
        self._ended: Counter[str] = Counter()  # how often a target has ended the process
        self._start()

    def look(self, tallies: dict[str, Tally]) -> bool:
        """Add what the process has reported, and return whether it goes on."""
        try:
            while self._reports.poll():
                for name, tally in self._reports.recv().items():
                    tallies[name].add(tally)
                    self._left -= tally.inputs
        except EOFError:  # the process has ended
            self._process.join()
            if self._process.exitcode == 0:
                return False
            self._fail(tallies, f"ended the process with exit code {self._process.exitcode}")
            return True
        if self._hangs():
            self._process.kill()
            self._process.join()
            self._fail(tallies, f"took more than {_HANGS:.0f} s of CPU")
        return True

    def _start(self) -> None:
        self._reports, sender = self._context.Pipe(duplex=False)
        names = {
            place: name for place, name in enumerate(self._names) if self._ended[name] < _MOST_ENDS
        }
        number = self._left if names else 0
        self._process = self._context.Process(
            target=_work, args=(sender, self._at, names, number, self._seed, self._step)
        )
        self._process.start()
        sender.close()

    def _fail(self, tallies: dict[str, Tally], problem: str) -> None:
        """Record the current input, and go on with the next one in a new process."""
        place = self._at[0]
        name, index = self._names[place], self._at[1 + place]
        failure = Failure(name, self._seed, index, problem)
        tallies[name].failures.setdefault(f"{problem} {index}", failure)
        self._at[1 + place] = index + self._step
        self._ended[name] += 1
        self._seen = (0, 0)
        self._start()

    def _hangs(self) -> bool:
        seen = (self._at[0], self._at[1 + self._at[0]])
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return False
        used = times.user + times.system
        if seen != self._seen:
            self._seen, self._since = seen, used
        return bool(used - self._since > _HANGS)


def _work(  # noqa: PLR0913, PLR0917 - the arguments of a process
    reports: Connection, at: Any, names: dict[int, str], number: int, seed: int, step: int
) -> None:
    """Fuzz in a process of its own, and report after each round over all targets.

    Args:
        reports: receives the tallies of each round.
        at: shared memory: the place of the current target, and the index of each target's input.
        names: targets by their places in `at`.
        number: inputs to run.
        seed: seed of the inputs.
        step: distance between two indexes, which is the number of processes.
    """
    make_quiet()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    while number > 0:
        tallies = {name: Tally() for name in names.values()}
        for place, name in names.items():
            at[0] = place
            tally, end = tallies[name], process_time() + _SLICE
            start = process_time()
            for index in fuzz(TARGETS[name], seed, count(at[1 + place], step), tally):
                at[1 + place] = index
                if process_time() > end or tally.inputs >= number:
                    break
            number -= tally.inputs
            tally.seconds = process_time() - start
        reports.send(tallies)
    reports.close()
