"""Tests of the command `convert`: its output, exit codes, and the documentation's examples."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from urltree_evaluation.cli import evaluate

DOCS = Path(__file__).parents[2] / "docs" / "evaluation.md"
_RECIPE = re.compile(r"```sh\n((?:(?!```).)*evaluate convert.*?)```\s*```text\n(.*?)```", re.DOTALL)

PAGE = '{"url": "https://a.example/", "html": "<p>A", "gold": "A"}\n'


def run(*arguments: object) -> Result:
    """Run `urltree evaluate convert …`."""
    return CliRunner().invoke(evaluate, ["convert", *map(str, arguments)])


def test_a_line_for_each_corpus(tmp_path: Path) -> None:
    """The command prints one line for each corpus, also if the corpora are already converted."""
    (tmp_path / "b.jsonl").write_text(PAGE + '{"html": "é"}\n')
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams" / "a.jsonl").write_text(PAGE * 1_000)
    arguments = [tmp_path / "work", tmp_path / "b.jsonl", tmp_path / "streams"]
    for result in (run(*arguments), run(*arguments)):
        assert result.exit_code == 0
        assert result.stdout == (
            "b: pages, parts 1, pages 2, scored 1, bytes 6\n"
            "streams: stream, parts 1, pages 1,000, scored 1,000, bytes 4,000\n"
        )
        assert result.stderr.startswith("convert: ")


def test_options_are_heard(tmp_path: Path) -> None:
    """The options --name, --kind and --tool take effect; --form accepts the format of the input."""
    (tmp_path / "b.jsonl").write_text(PAGE)
    options = ["--name", "mine", "--kind", "stream", "--tool", "x", "--form", "json-lines"]
    result = run(tmp_path / "work", tmp_path, *options)
    assert result.stdout == "mine: stream, parts 1, pages 1, scored 1, bytes 4, gold of x\n"


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["work"], 2, "Missing argument 'INPUTS...'"),
        (["work", "none.jsonl"], 2, "'none.jsonl' does not exist"),
        (["bad.jsonl", "bad.jsonl"], 2, "'bad.jsonl' is a file"),
        (["work", "bad.jsonl", "--form", "xml"], 2, "'xml' is not one of"),
        (["work", "bad.jsonl"], 1, "Error: line 1 of "),
        (["work", "empty"], 1, "contains no corpus in a known format"),
    ],
)
def test_wrong_inputs_end_without_a_traceback(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    problem: str,
) -> None:
    """Wrong inputs end with a message.

    The exit code is 2 for wrong usage and 1 for invalid corpora.
    """
    monkeypatch.chdir(tmp_path)
    Path("bad.jsonl").write_text("no JSON")
    Path("empty").mkdir()
    result = run(*arguments)
    assert result.exit_code == code
    assert problem in result.stderr
    assert isinstance(result.exception, SystemExit)


def _recipes() -> list[tuple[str, str]]:
    text = DOCS.read_text() if DOCS.exists() else ""
    return [(command, output) for command, output in _RECIPE.findall(text) if "END" in command]


@pytest.mark.skipif(not _recipes(), reason="docs/evaluation.md has no recipe of a corpus yet")
def test_a_stranger_adds_a_corpus_by_the_docs(tmp_path: Path) -> None:
    """For each format, the commands of the documentation print the output that is shown there."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, output in _recipes():
        ran = subprocess.run(
            ["sh", "-e", "-c", command],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            check=False,
            text=True,
        )
        assert (ran.returncode, ran.stdout) == (0, output), ran.stderr
    assert len(_recipes()) == 2


def test_another_input_of_the_same_name_replaces_the_corpus_and_this_is_said(
    tmp_path: Path,
) -> None:
    """A message says that an input with the same name replaces the corpus.

    Users who want both corpora can then convert one of them again under another name.
    """
    for folder, is_said in (("a", False), ("b", True)):
        file = tmp_path / folder / "mine.jsonl"
        file.parent.mkdir()
        file.write_text(PAGE)
        assert (
            "converting mine again: its input or options have changed"
            in run(tmp_path / "work", file).stderr
        ) == is_said
