"""An extractor that hangs, leaks memory or crashes fails only on that page; the run continues."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.urltree_evaluation.streamed import Counting, predicted, single, stream, work
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.registry import DuplicatePage
from urltree_evaluation.prediction import Failure
from urltree_evaluation.running.part_run import DEATHS

pytestmark = pytest.mark.slow

BAD = "2"  # id of the page on which the extractor misbehaves
SECONDS = 1.0  # limit of CPU time for a page, about 1,000 times the time that a page needs here


def sleeps() -> None:
    """Sleep without using CPU time."""
    while True:
        time.sleep(60)


def loops() -> None:
    """Use CPU time in Python code without end."""
    while True:
        pass


def backtracks() -> None:
    """Use CPU time in C code that never releases the interpreter lock."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def swallows_everything() -> None:
    """Sleep without end, and catch every exception."""
    while True:
        try:
            time.sleep(60)
        except BaseException:  # noqa: BLE001, S112
            continue


def ignores_signals() -> None:
    """Sleep without end, and ignore the signals that usually end a process."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    sleeps()


def hoards() -> None:
    """Allocate memory in small steps without end."""
    kept = []
    while True:
        kept.append(bytearray(1 << 22))


def wants_too_much() -> None:
    """Allocate too much memory at once."""
    bytearray(1 << 40)


def exits() -> None:
    """End the process with exit code 0."""
    os._exit(0)


def aborts() -> None:
    """Abort, like C code that has detected an error."""
    os.abort()


def segfaults() -> None:
    """Read from an invalid address."""
    ctypes.string_at(0)


def calls_exit() -> None:
    """Raise SystemExit."""
    sys.exit(0)


def raises() -> None:
    """Raise an exception."""
    raise ValueError("has\na bug")


def interrupts() -> None:
    """Raise an exception that is not derived from Exception."""
    raise KeyboardInterrupt


def recurses() -> None:
    """Call itself without end."""
    recurses()


def returns_a_number() -> int:
    """Return a number instead of text."""
    return 3


def returns_bytes() -> bytes:
    """Return bytes instead of text."""
    return b"text"


def asks_the_web() -> None:
    """Connect to an IP address."""
    with socket.socket() as plain:
        plain.connect(("127.0.0.1", 9))


def asks_the_web_by_name() -> None:
    """Request a page from a host that is given by its name."""
    urllib.request.urlopen("http://localhost:9/")


CAUSES: list[tuple[Callable[[], object], Failure, str]] = [
    (sleeps, "time", "slept for more than 4 s"),
    (loops, "time", "used more than 1 s of CPU"),
    (backtracks, "time", "used more than 1 s of CPU"),
    (swallows_everything, "time", "slept for more than 4 s"),
    (ignores_signals, "time", "slept for more than 4 s"),
    (hoards, "memory", "used more than 200 MB"),
    (wants_too_much, "memory", "used more than 200 MB"),
    (exits, "crash", "exit code 0"),
    (aborts, "crash", "SIGABRT"),
    (segfaults, "crash", "SIGSEGV"),
    (calls_exit, "exception", "SystemExit: 0"),
    (raises, "exception", "ValueError: has a bug"),
    (interrupts, "exception", "KeyboardInterrupt:"),
    (recurses, "exception", "RecursionError: maximum recursion depth exceeded"),
    (returns_a_number, "exception", "TypeError: returned a value of type int instead of str"),
    (returns_bytes, "exception", "TypeError: returned a value of type bytes instead of str"),
    (
        asks_the_web,
        "exception",
        "OSError: network access is disabled while extractors are measured",
    ),
    (asks_the_web_by_name, "exception", "URLError: <urlopen error network access is disabled"),
]


@pytest.mark.parametrize(("misbehave", "failure", "message"), CAUSES)
def test_a_page_that_an_extractor_does_not_bear_is_counted_and_the_run_goes_on(
    misbehave: Callable[[], object], failure: Failure, message: str, tmp_path: Path
) -> None:
    """The prediction of the bad page names the cause of the failure.

    All other pages have their text.
    """
    bad = single("bad", lambda html: misbehave() if html == BAD else f"text {html}")
    seconds = SECONDS if failure == "time" else 30  # high, so that only one limit applies
    outcomes = predicted(work(tmp_path), bad, seconds=seconds)
    assert [each.id for each in outcomes] == list("012345")
    assert {each.id: each.failure for each in outcomes if each.failure} == {BAD: failure}
    assert outcomes[2].message.startswith(message)
    assert [each.text for each in outcomes if not each.failure] == [
        f"text {n}" for n in range(6) if n != 2
    ]


@pytest.mark.parametrize("misbehave", [sleeps, exits, raises])
def test_a_stream_goes_on_as_if_the_page_had_not_been(
    misbehave: Callable[[], None], tmp_path: Path
) -> None:
    """The stream extractor's later texts are the same as if the failed page did not exist.

    A new process learns all earlier pages again, without the page that killed the old process.
    """

    class Bad(Counting):
        def __call__(self, page: CorpusPage) -> str:
            if page.id == BAD:
                misbehave()
            return super().__call__(page)

    outcomes = predicted(work(tmp_path), stream("bad", Bad), seconds=SECONDS)
    assert [each.text for each in outcomes] == ["0", "0 1", "", "0 1 3", "0 1 3 4", "0 1 3 4 5"]


def test_a_page_without_gold_may_be_the_end_of_a_process(tmp_path: Path) -> None:
    """A page without gold that kills a process is skipped, because it has no prediction."""

    class Bad(Counting):
        def __call__(self, page: CorpusPage) -> str:
            if page.id == BAD:
                exits()
            return super().__call__(page)

    outcomes = predicted(work(tmp_path, without_gold=(0, 2)), stream("bad", Bad))
    assert [each.text for each in outcomes] == ["0 1", "0 1 3", "0 1 3 4", "0 1 3 4 5"]


def test_an_extractor_that_bears_no_page_ends_all_the_same(tmp_path: Path) -> None:
    """After `DEATHS` killed processes, the other pages are marked as failed without a run."""
    outcomes = predicted(work(tmp_path, DEATHS + 5), single("bad", lambda _: exits()))
    assert [each.failure for each in outcomes] == ["crash"] * (DEATHS + 5)
    assert [each.message for each in outcomes][-6:] == ["exit code 0"] + [
        f"not run: {DEATHS} processes failed before; exit code 0"
    ] * 5


@pytest.mark.parametrize(("misbehave", "failure"), [(loops, "time"), (raises, "exception")])
def test_an_extractor_that_cannot_be_made_fails_on_every_page(
    misbehave: Callable[[], None], failure: Failure, tmp_path: Path
) -> None:
    """The limits also apply to the creation of an extractor, which then fails on every page."""

    class Bad(Counting):
        def __init__(self) -> None:
            misbehave()
            super().__init__()

    outcomes = predicted(work(tmp_path, 2), stream("bad", Bad), seconds=SECONDS)
    assert [each.failure for each in outcomes] == [failure] * 2


def test_a_thread_that_never_gives_the_interpreter_back_costs_a_page_at_most(
    tmp_path: Path,
) -> None:
    """A thread that keeps the interpreter lock makes at most one page fail.

    No wait is endless, neither before the first page nor after the last one.
    """

    def start(html: str) -> str:
        if html in {BAD, "5"}:
            threading.Thread(target=backtracks).start()
        return html

    outcomes = predicted(work(tmp_path), single("bad", start), seconds=SECONDS)
    assert [each.id for each in outcomes] == list("012345")
    assert {each.failure for each in outcomes} <= {None, "time"}
    assert [each.text for each in outcomes][0:2] == ["0", "1"]


def test_what_an_extractor_prints_goes_nowhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All output of an extractor is discarded, even if it is large or bypasses Python's streams."""

    def shout(html: str) -> str:
        sys.stdout.write("x" * 1_000_000)
        sys.stderr.write("\ud800x" * 1_000_000)
        os.write(1, b"x" * 1_000_000)
        return html + sys.stdin.read()

    outcomes = predicted(work(tmp_path), single("loud", shout))
    assert [each.text for each in outcomes] == list("012345")
    assert "xxx" not in "".join(capfd.readouterr())


def test_what_is_no_text_in_json_is_made_so(tmp_path: Path) -> None:
    """In the text of an extractor, lone surrogates become question marks.

    None becomes an empty text.
    """
    said = {"0": None, "1": "a\ud800b\n\x00c", "2": ""}
    outcomes = predicted(work(tmp_path, 3), single("odd", said.get))
    assert [each.text for each in outcomes] == ["", "a?b\n\x00c", ""]
    assert [each.failure for each in outcomes] == [None] * 3


def test_a_duplicate_is_told_from_a_failure(tmp_path: Path) -> None:
    """A page that an extractor reports as a duplicate has the failure "duplicate".

    Its message is the step that detected the duplicate.
    """

    class Seen(Counting):
        def __call__(self, page: CorpusPage) -> str:
            if page.id == BAD:
                raise DuplicatePage("body")
            return page.id

    outcome = predicted(work(tmp_path), stream("seen", Seen))[2]
    assert (outcome.failure, outcome.message) == ("duplicate", "body")


def test_what_a_page_took_is_known(tmp_path: Path) -> None:
    """A prediction has the CPU time of its page, without sleep.

    Its memory is the increase of the peak, also if the process was killed.
    """

    def work_hard(html: str) -> str:
        if html == "1":
            begun = time.process_time()
            while time.process_time() - begun < 0.1:
                pass
        if html == "2":
            bytearray(b"x") * (50 << 20)
        if html == "3":
            loops()
        time.sleep(0.01)
        return html

    hard = single("hard", work_hard)
    idle, busy, large, stopped, *_ = predicted(work(tmp_path), hard, seconds=SECONDS)
    assert busy.cpu >= 0.1 > idle.cpu
    # the bounds are wide because the kernel counts memory pages per CPU and sums them up later
    assert 70 << 20 > large.memory > 40 << 20 > idle.memory
    assert stopped.cpu > SECONDS


def test_no_process_is_left(tmp_path: Path) -> None:
    """After a run, no process of an extractor remains, and none of its child processes."""
    command = ["sleep", f"600.{os.getpid()}"]  # a command that only this test runs

    def start(html: str) -> str:
        os.system(f"{' '.join(command)} &")  # noqa: S605
        if html == BAD:
            sleeps()
        return html

    before = psutil.Process().children(recursive=True)  # processes of other tests
    predicted(work(tmp_path), single("bad", start), seconds=SECONDS)
    assert set(psutil.Process().children(recursive=True)) <= set(before)
    deadline = time.monotonic() + 300  # seconds; a killed process ends after a moment
    while [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == command]:
        assert time.monotonic() < deadline, "a child process of the extractor is still running"
        time.sleep(0.05)
