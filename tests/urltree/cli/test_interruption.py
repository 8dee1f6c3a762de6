"""Ctrl-C while a page is processed: the page is written and saved, or neither written nor saved."""

from __future__ import annotations

import signal
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from urltree.cli import main
from urltree.extractor import Extractor

PAGES = [f'{{"url":"https://example.org/{n}","html":"<p>text {n}"}}\n' for n in range(5)]


def extracted(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Return the exit code of `urltree extract`, and the status of each written record."""
    (folder / "pages.jsonl").write_text("".join(PAGES))
    arguments = ["extract", str(folder / "pages.jsonl"), "--state", str(folder / "state"), *options]
    run = CliRunner().invoke(main, arguments)
    return run.exit_code, [orjson.loads(line)["status"] for line in run.stdout.splitlines()]


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Send `times` interrupts (Ctrl-C) right after the second page was learned."""
    learn = Extractor.learn

    def learned(self: Extractor, *arguments: object) -> object:
        found = learn(self, *arguments)  # type: ignore[arg-type]
        if self._state.pages == 2:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(Extractor, "learn", learned)


@pytest.mark.usefixtures("_interrupted")
@pytest.mark.parametrize("times", [1])
def test_a_page_that_was_learned_is_said(tmp_path: Path) -> None:
    """After one Ctrl-C the current page is written and saved; the next run continues after it."""
    assert extracted(tmp_path) == (130, ["ok"] * 2)
    assert extracted(tmp_path) == (0, ["duplicate"] * 2 + ["ok"] * 3)


@pytest.mark.usefixtures("_interrupted")
@pytest.mark.parametrize(
    ("times", "options"),
    [pytest.param(2, [], id="a second time"), pytest.param(1, ["--two-pass"], id="two passes")],
)
def test_who_does_not_wait_ends_at_once(tmp_path: Path, options: list[str]) -> None:
    """A second Ctrl-C, or the first with `--two-pass`, ends the command in the middle of a page."""
    assert extracted(tmp_path, *options) == (130, ["ok"] * (not options))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
