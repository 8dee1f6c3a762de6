"""The command `urltree rules suggest`, which suggests query rules from pages or a state."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result

from tests.urltree.cli.test_explain_command import hide_rich
from tests.urltree.sites_with_queries import HOST, lists, page, stories
from urltree import extract
from urltree.address.query_rules import parse_rules
from urltree.cli import main

SITE = [*stories(12), *lists(15)]


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Path:
    """Return the path of a file with the pages of SITE."""
    return written(tmp_path, SITE)


def written(folder: Path, pages: Iterable[dict[str, str]]) -> Path:
    """Write pages to a file, and return its path."""
    path = folder / "pages.jsonl"
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in pages))
    return path


def suggest(*arguments: object) -> Result:
    """Run `urltree rules suggest` to its end."""
    return CliRunner().invoke(main, ["rules", "suggest", *map(str, arguments)])


def suggested(*arguments: object) -> list[Any]:
    """Return the rules that the command prints as YAML."""
    run = suggest("--format", "yaml", *arguments)
    assert run.exit_code == 0, run.output
    parse_rules(run.stdout)
    return list(yaml.safe_load(run.stdout)["rules"])


def test_what_it_prints_is_obeyed_as_rules(tmp_path: Path, site: Path) -> None:
    """`extract` accepts the printed rules, which drop sessions and the sort order of lists.

    Different stories, and different pages of one list, still have different keys.
    """
    (tmp_path / "rules.yaml").write_text(suggest("--format", "yaml", site).stdout)
    kept = {e.url_key for e in extract(SITE, rules=tmp_path / "rules.yaml") if e.url_key}
    lists_kept = {f"{HOST}/list/{n}/{q}" for n in range(15) for q in ("", "?page=2", "?page=3")}
    assert kept == lists_kept | {f"{HOST}/story.php?id={n}" for n in range(12)}


def test_a_state_says_the_same_as_its_pages(tmp_path: Path, site: Path) -> None:
    """A state leads to the same rules as its pages, although it contains neither URLs nor HTML."""
    list(extract(SITE, state=tmp_path / "state"))
    assert suggested("--state", tmp_path / "state") == suggested(site)
    assert len(suggested("--state", tmp_path / "state")) == 2


def test_a_state_stays_as_it_is(tmp_path: Path) -> None:
    """`rules suggest` changes no byte of a state."""
    list(extract(SITE, state=tmp_path / "state"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    suggest("--state", tmp_path / "state")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_undecided_is_no_rule(tmp_path: Path) -> None:
    """Three stories with three visits each are too few for a rule."""
    assert suggested(written(tmp_path, stories(3))) == []


def test_pages_that_could_not_be_read_are_counted(tmp_path: Path) -> None:
    """The number of pages that cannot be read is printed to stderr, as `extract` does."""
    pages = [*SITE, {"url": "https://example.org/x"}]
    run = suggest("--format", "yaml", written(tmp_path, pages))
    assert run.stderr.startswith(f"{len(pages)} pages of 1 domain, ")
    assert run.stderr.endswith("1 error (malformed 1)\n")


def test_counts_stand_beside_each_rule(site: Path) -> None:
    """The counts are printed as comments beside each rule, so that users see the reason."""
    printed = suggest("--format", "yaml", site).stdout
    assert "  # session: drop (24 pairs: 24 same at 12 addresses, 0 different)\n" in printed


def test_rules_in_force_settle_what_they_drop(tmp_path: Path, site: Path) -> None:
    """Parameters that a given rule drops are not suggested again.

    Without sessions, stories are compared with each other, so there is evidence about `id`.
    """
    (tmp_path / "rules.yaml").write_text(suggest("--format", "yaml", site).stdout)
    run = suggest("--format", "jsonl", "--rules", tmp_path / "rules.yaml", site)
    lines = [orjson.loads(line) for line in run.stdout.splitlines()]
    assert [(line["parameter"], line["answer"]) for line in lines] == [
        ("page", "keep"),
        ("id", "keep"),
    ]


@pytest.mark.parametrize("has_rich", [True, False])
def test_a_table_has_a_line_for_each_parameter(
    monkeypatch: pytest.MonkeyPatch, site: Path, has_rich: bool
) -> None:
    """The table has a row for each parameter, with its counts, whether or not rich is installed."""
    if not has_rich:
        hide_rich(monkeypatch)
    rows = [line.split() for line in suggest(site).stdout.splitlines()]
    assert ["www.example.org", "/list/*/", "sort", "drop", "135", "90", "90", "0", "45"] in rows


def test_names_of_a_site_end_no_comment_and_speak_to_no_terminal(tmp_path: Path) -> None:
    """Parameter names are printed percent-encoded.

    No name can then end a comment or control the terminal. A rule retains the decoded names.
    """
    pages = [
        page(f"/?%0Arules:%1B[2J%FF={n}&[b]={s}", f"story {n}") for n in range(12) for s in "ab"
    ]
    site = written(tmp_path, pages)
    (rule,) = suggested(site)
    assert rule["retain"] == ["\nrules:\x1b[2J\udcff"]
    for form in ("table", "yaml", "jsonl"):
        printed = suggest("--format", form, site).stdout
        assert "\x1b" not in printed
        assert "%0Arules%3A%1B%5B2J%FF" in printed


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "pass either pages"),
        (("a.jsonl", "--state", "s"), 2, "not both"),
        (
            ("--state", "missing"),
            1,
            "missing is not a urltree state directory: it has no state.json",
        ),
        (("missing.jsonl",), 1, "missing.jsonl: no such file or folder"),
        (("-", "--rules", "missing.yaml"), 2, "rules: cannot read missing.yaml"),
    ],
)
def test_wrong_use_is_said(arguments: tuple[str, ...], code: int, said: str) -> None:
    """Wrong usage gives the expected exit code and message, and creates no state."""
    run = suggest(*arguments)
    assert run.exit_code == code
    assert said in run.output
    assert not Path("missing").exists()
