"""Tests of the commands `extract` and `cost`: options, output and exit codes."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from tests.urltree_evaluation.streamed import CORPUS, PART, work
from urltree.cli import main
from urltree_evaluation.costs.cost import load_cost

PLUGIN = """
from urltree_evaluation import single_page

@single_page("mine", "none")
def mine(html, url):
    return html
"""


def run(verb: str, folder: Path, *options: str) -> Result:
    """Run the command `urltree evaluate VERB` with a plugin."""
    plugin = folder / "plugin.py"
    plugin.write_text(PLUGIN)
    return CliRunner().invoke(
        main, ["evaluate", verb, str(folder / "work"), f"--plugin={plugin}", *options]
    )


def test_a_plugin_is_run_by_its_name(tmp_path: Path) -> None:
    """The option --extractor selects an extractor of a plugin, and no other extractor is run."""
    workspace = work(tmp_path / "work")
    result = run("extract", tmp_path, "--extractor=mine", "--sample=2", "--processes=2")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "extract: 2 of 2 documents" in result.stderr
    assert workspace.extractors(CORPUS) == ["mine"]
    assert [each.text for each in workspace.predictions(CORPUS, "mine", PART)] == ["0", "3"]


def test_cost_says_what_it_wrote(tmp_path: Path) -> None:
    """The command prints the bare parse, then a line for each extractor, the cheapest first."""
    work(tmp_path / "work")
    result = run("cost", tmp_path, "--extractor=mine", "--extractor=all-text", "--passes=1")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("a bare parse of 5 documents: ")
    assert [line.partition(":")[0] for line in result.stdout.splitlines()[1:]] == [
        "mine",
        "all-text",
    ]
    found = load_cost(tmp_path / "work")
    assert found is not None
    assert found.extractors.keys() == {"mine", "all-text"}


@pytest.mark.parametrize("verb", ["extract", "cost"])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--extractor=nobody", "Error: There is no extractor 'nobody'. Available: all-text,"),
        ("--corpus=nowhere", "Error: There is no corpus nowhere. Available: made-up."),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    verb: str, option: str, message: str, tmp_path: Path
) -> None:
    """An unknown extractor or corpus is an error that lists the available names."""
    work(tmp_path / "work")
    result = run(verb, tmp_path, option)
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_folder_without_corpus_says_which_verb_makes_one(tmp_path: Path) -> None:
    """If the work folder has no corpus or does not exist, the error names the command `convert`."""
    result = run("extract", tmp_path, "--extractor=mine")
    assert result.exit_code == 1
    assert "has no corpus: run `urltree evaluate convert` first" in result.stderr


@pytest.mark.slow
def test_all_stages_follow_each_other(tmp_path: Path) -> None:
    """The command `all` prints a heading for each stage. A second run extracts no page again."""
    file = tmp_path / "input.jsonl"
    records = [
        {
            "url": f"https://site{n}.example/{n}",
            "domain": f"site{n}.example",
            "published": "2020-01-01T00:00:00Z",
            "title": "A title",
            "html": f"<html><body><p>A sentence with some words, number {n}.</p></body></html>",
            "gold": f"A sentence with some words, number {n}.",
        }
        for n in range(4)
    ]
    file.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    options = (str(file), "--extractor=mine", "--extractor=all-text", "--processes=2")
    for extracted in ("8 of 8 documents", "0 documents"):
        result = run("all", tmp_path, *options)
        assert result.exit_code == 0, result.output
        headings = [line for line in result.stderr.splitlines() if " of 5: " in line]
        verbs = ("convert", "extract", "score", "cost", "report")
        assert headings == [f"{n} of 5: {verb}" for n, verb in enumerate(verbs, 1)]
        assert f"extract: {extracted}, " in result.stderr
    assert (tmp_path / "work" / "report" / "index.html").exists()
