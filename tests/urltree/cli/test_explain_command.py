"""The command `urltree explain`: why each block of a page is kept or dropped."""

from __future__ import annotations

import sys
from io import BufferedReader, BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from tests.urltree.listings import HOST, NAMES, article, front, headline, lead
from urltree import Extractor, extract
from urltree.cli import main
from urltree.site.state_directory import StateDirectory

COMMENTS = "<div class=comments><p>It should have been the other bridge, as I said.</p></div>"
SITE = [(f"{HOST}/{name}", article(name, COMMENTS)) for name in NAMES[:8]]
NEXT = (f"{HOST}/larch", article("larch", COMMENTS))


@pytest.fixture(name="state")
def _state(tmp_path: Path) -> Path:
    """Make a state directory that has learned SITE, and return its path."""
    list(extract(SITE, state=tmp_path / "state"))
    return tmp_path / "state"


def explain(*arguments: object, html: str = "", url: str | None = None) -> Result:
    """Run `urltree explain`; with a URL it reads `html` from standard input."""
    given = ["-", "--url", url] if url else []
    command = ["explain", *given, *map(str, arguments)]
    return CliRunner().invoke(main, command, input=BufferedReader(BytesIO(html.encode())))


def explained(page: tuple[str, str], *arguments: object) -> tuple[dict[str, Any], list[Any]]:
    """Return the JSON objects that the command prints for a page and for its blocks."""
    run = explain("--format", "jsonl", *arguments, url=page[0], html=page[1])
    assert run.exit_code == 0, run.output
    said, *blocks = map(orjson.loads, run.stdout.splitlines())
    return said, blocks


def test_each_block_has_its_verdict_and_what_it_stands_on(state: Path) -> None:
    """Each block is printed with its verdict, its place, its counts and its share of links."""
    said, blocks = explained(NEXT, "--state", state)
    text = {block["text"]: block for block in blocks}
    assert text["About this paper"]["verdict"] == "boilerplate"
    assert text["About this paper"]["counts"] == [9]
    assert text["About this paper"]["link_share"] == 1
    assert text[headline("larch")]["where"] == "title"
    assert text[lead("larch")] == {
        "position": said["title_block"] + 1,
        "verdict": "content",
        "where": "main",
        "counts": [1],
        "words": 15,
        "link_share": 0,
        "path": "html > body > div.entry > p",
        "text": lead("larch"),
    }
    assert [block["reason"] for block in blocks if "comments" in block["path"]] == ["comments"]


@pytest.mark.parametrize("heuristic", ["evidence", "strict", "strict-at-domain"])
def test_it_says_what_extract_says(tmp_path: Path, heuristic: str) -> None:
    """After the same pages, `explain` shows the verdicts, reasons and counts of `extract`."""
    for page in (NEXT, (f"{HOST}/front", front(NAMES[2:9]))):
        folder = tmp_path / page[0].rpartition("/")[2]
        list(extract(SITE, heuristic=heuristic, state=folder))
        said, blocks = explained(page, "--state", folder, "--heuristic", heuristic)
        with Extractor(heuristic=heuristic, state=folder, boilerplate=True) as extractor:
            expected = extractor.extract(page)
        assert [block["verdict"] for block in blocks] == [b.verdict for b in expected.blocks or ()]
        if heuristic == "evidence":
            reasons = [block.reason for block in expected.blocks or ()]
            assert [block.get("reason") for block in blocks] == reasons
        judging = [node["node"] for node in said["nodes"]].index(said["judged_at"])
        counts = [block["counts"][judging] for block in blocks]
        assert counts == [block.count for block in expected.blocks or ()]
        assert said.get("page_kind") == expected.page_kind


def test_a_page_of_the_state_is_not_counted_twice(state: Path) -> None:
    """A page that the state already contains is not counted a second time when it is explained."""
    said, blocks = explained(SITE[0], "--state", state)
    assert said["nodes"] == [{"node": "news.example", "support": len(SITE)}]
    assert max(block["counts"][0] for block in blocks) == len(SITE)


def test_a_main_element_that_the_site_has_found_is_said_to_be_so(state: Path) -> None:
    """If earlier pages decide the main element, `explain` shows how many of them chose it.

    It also shows the element that this page alone would choose.
    """
    long = "<p>Nobody who lives here has ever said that this was what they had in mind.</p>" * 9
    html = (
        f"<div class=entry><p>{lead('larch')}</p></div><div><div class=letters>{long}</div></div>"
    )
    said, _ = explained((f"{HOST}/larch", html), "--state", state)
    assert said["main"] == "html > body > div.entry"
    assert (said["main_votes"], said["main_voters"]) == (8, 8)
    assert said["main_alone"] == "html > body > div > div.letters"


def test_below_the_table_stands_what_holds_for_the_page(state: Path) -> None:
    """The lines below the table show the judging node, title, main element and word counts."""
    printed = explain("--state", state, url=NEXT[0], html=NEXT[1]).stdout
    chosen = "chosen by this page; 8 of 8 pages of the site have their main element there"
    assert printed.endswith(
        dedent(f"""
        page     https://news.example/larch, article
        counts   documents with the block / all documents, at news.example 9
        judged   by evidence at news.example, 9 documents
        title    block 2: Council decides about the old larch
        main     html > body > div.entry: {chosen}
        kept     65 of 81 words; dropped 10 comments, 6 navigation
        """)[1:]
    )


def test_a_state_stays_as_it_is(state: Path) -> None:
    """`explain` changes no byte of a state, even while another process has the state open."""
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files(state)}
    owner = StateDirectory(state)
    explained(NEXT, "--state", state)
    explain(SITE[0][0], "--state", state)
    owner.close()
    assert {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files(state)} == before


def files(folder: Path) -> list[Path]:
    """Return all files below a folder except the lock."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


def test_of_an_address_the_state_says_what_it_holds(state: Path) -> None:
    """For a URL without HTML the stored facts are shown, but no blocks.

    A state stores no HTML, so a message explains how to pass the page's HTML.
    """
    run = explain(SITE[3][0], "--state", state, "--format", "jsonl")
    said = orjson.loads(run.stdout)
    assert (said["branch"], said["support"], said["page_kind"]) == (["dogwood"], 4, "article")
    assert said["content"] + sum(said["boilerplate"].values()) == said["blocks"]
    assert said["boilerplate"]["comments"] == 1
    assert f"curl -L URL | urltree explain - --url URL --state {state}" in run.stderr
    assert "page_kind    article\n" in explain(SITE[3][0], "--state", state).stdout


@pytest.mark.parametrize("has_rich", [True, False])
@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_nothing_that_a_page_says_reaches_the_terminal(
    monkeypatch: pytest.MonkeyPatch, form: str, has_rich: bool
) -> None:
    """No control character of a page is printed, because it could control the terminal."""
    if not has_rich:
        hide_rich(monkeypatch)
    evil = "\x1b]0;x\x07 \x9b2J \x7f \u202e\u2066 \u2028"
    html = f"<title>a {evil}</title><p class='a\x1b[2J\u202e'>a {evil} [red]b[/red]</p>"
    run = explain("--format", form, url="https://example.org/", html=html)
    assert run.exit_code == 0, run.output
    assert all(c.isprintable() or c == "\n" for c in run.stdout)
    assert "[red]b[/red]" in run.stdout


def test_a_page_without_address_is_a_site_of_its_own(tmp_path: Path) -> None:
    """A page without URL is a site of its own, and is judged by its markup."""
    (tmp_path / "page.html").write_text(NEXT[1])
    run = explain(tmp_path / "page.html")
    assert run.exit_code == 0, run.output
    assert "page     without URL, article\n" in run.stdout


def hide_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every import of `rich` fail, as after `pip install urltree` without extras."""
    for name in ("rich", "rich.box", "rich.console", "rich.table", "rich.text"):
        monkeypatch.setitem(sys.modules, name, None)


def test_the_table_needs_no_rich(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    """Without `rich` the same cells and the same summary are printed in plain columns."""
    drawn = explain("--state", state, url=NEXT[0], html=NEXT[1])
    hide_rich(monkeypatch)
    plain = explain("--state", state, url=NEXT[0], html=NEXT[1])
    assert (drawn.exit_code, plain.exit_code) == (0, 0), plain.output
    rows, drawn_rows = (
        [" ".join(line.split()) for line in run.stdout.splitlines()] for run in (plain, drawn)
    )
    drawn_rows = [row for row in drawn_rows if row and set(row) != {"─"}]
    assert rows[0] == "# verdict where count words links path text"
    assert set(rows[1]) == {"-", " "}
    assert [rows[0], *rows[2:]] == drawn_rows


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("https://example.org/",), 2, "curl -L URL | urltree explain - --url URL"),
        (
            ("https://example.org/", "--state", "{state}"),
            1,
            "no page with the URL key https://example.org/ is stored there",
        ),
        (
            ("-", "--state", "missing"),
            1,
            "missing is not a urltree state directory: it has no state.json",
        ),
        (("-", "--heuristic", "none"), 2, "heuristic: 'none' does not exist"),
        (("{page}", "--url", "https://"), 1, "'https://' is not an absolute URL"),
        (("-",), 1, "html: is empty"),
        (("missing.html",), 1, "missing.html: no such file"),
        (("{several}",), 1, "contains several pages; pass exactly one page"),
        (("-", "--rules", "missing.yaml"), 1, "missing.yaml"),
    ],
)
def test_wrong_use_is_said(
    state: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Wrong usage gives the expected exit code and message, and no traceback."""
    page, several = tmp_path / "page.html", tmp_path / "several.jsonl"
    page.write_text(NEXT[1])
    several.write_bytes(b"\n".join(orjson.dumps({"url": url, "html": html}) for url, html in SITE))
    run = explain(*(a.format(state=state, several=several, page=page) for a in arguments))
    assert (run.exit_code, said in run.output) == (code, True), run.output
    assert "Traceback" not in run.output
