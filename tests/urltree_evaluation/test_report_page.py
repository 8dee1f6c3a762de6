"""Tests of the report's page: it is self-contained, and contains nothing active."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from lxml import html

from tests.urltree_evaluation.reported import (
    EXTRACTORS,
    Say,
    add,
    as_segments,
    half,
    nothing,
    pages,
    whole,
)
from urltree.html.parser import MAX_TAGS
from urltree_evaluation.cli.report import command
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.nce.constants import EXPLORATION
from urltree_evaluation.report import write_report
from urltree_evaluation.workspace import Workspace, WorkspaceError

HOSTILE = (
    "</script><script>alert(1)</script> <img src=http://evil.example/x onerror=alert(2)> "
    "</style><style>@import 'http://evil.example'</style> ]]> --> &amp; {{ 7 * 7 }} "
    "\u202edrow\u2066 a\x00b c\x1bd ![x](http://evil.example/y)"
)
REFERENCES = ("src", "href", "action", "data", "poster", "srcset", "background", "xlink:href")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of a stream, single pages, segments, gold by a tool and hostile pages."""
    path = tmp_path_factory.mktemp("report")
    add(path, "stream", pages(3, 12), kind="stream")
    add(path, "classical", pages(4, 1), EXTRACTORS | {"failing": nothing})
    add(path, "segments", as_segments(pages(4, 1)), {"plain": whole, "urltree-strict": half})
    add(path, "by-a-tool", pages(4, 1), tool="readability.js")
    add(path, "hostile <b> $x$ | \u202e", _hostile(), _hostile_extractors())
    one = {
        "ratio": 3.5, "seconds": 1.0, "documents": 4, "bytes": 10, "quartiles": [1.0, 2.0, 3.0],
        "worst": [{"corpus": "classical", "id": "<i>", "ratio": 9.0}], "left_out": [],
        "peak_memory": None,
    }  # fmt: skip
    cost = {"documents": 4, "bytes": 10, "seconds": 1.0, "extractors": {"plain": one}}
    (path / "cost.json").write_bytes(orjson.dumps(cost))
    return write_report(Workspace(path)).parent


@pytest.fixture(scope="module")
def page(folder: Path) -> html.HtmlElement:
    """Return the page of the report, parsed as HTML."""
    return html.document_fromstring((folder / "index.html").read_bytes().decode())


def _hostile() -> list[CorpusPage]:
    return [
        CorpusPage(HOSTILE, f"javascript:{HOSTILE}", HOSTILE, f"<p>{HOSTILE}</p>", title=HOSTILE,
                   gold=f"{HOSTILE} and more")
    ]  # fmt: skip


def _hostile_extractors() -> Mapping[str, Say]:
    return {"urltree-strict": whole, "<img onerror=alert(3)> $y$": lambda _: HOSTILE}


@pytest.mark.slow
def test_the_page_refers_to_nothing_but_itself(page: html.HtmlElement) -> None:
    """The page has no script and no image, and refers only to its own anchors and an empty icon."""
    found = {
        (element.tag, str(value))
        for element in page.iter("*")
        for key, value in element.attrib.items()
        if key in REFERENCES and not str(value).startswith("#")
    }
    assert found == {("link", "data:,")}
    assert not page.findall(".//script")
    assert not page.findall(".//img")
    styles = "".join(str(style.text) for style in page.findall(".//style"))
    assert len(page.findall(".//style")) == 1
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_page_forbids_what_it_does_not_need(page: html.HtmlElement) -> None:
    """The content security policy blocks scripts and requests, in case escaping failed."""
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_no_element_of_the_page_acts(page: html.HtmlElement) -> None:
    """Pages, titles, domains and names of extractors appear on the page only as text."""
    attributes = [key for element in page.iter("*") for key in element.attrib]
    assert not [key for key in attributes if str(key).startswith("on")]
    text = page.text_content()
    assert "<img onerror=alert(3)>" in text
    assert "alert(1)" in text
    assert "{{ 7 * 7 }}" in text
    assert "[U+202E]" in text
    assert not set(text) & set("\x00\x1b\u202e\u2066")


def test_every_link_leads_to_one_place(page: html.HtmlElement) -> None:
    """All ids of the page are unique, including those in charts, and every link leads to an id."""
    ids = [str(element.get("id")) for element in page.iter("*") if element.get("id")]
    assert len(ids) == len(set(ids))
    links = {str(link)[1:] for link in page.xpath("//a/@href")}
    assert links <= set(ids)


def test_gold_that_a_tool_made_stands_apart_and_is_marked(page: html.HtmlElement) -> None:
    """Corpora whose gold a tool made come last, below a separate heading, and are marked."""
    headings = [heading.text_content() for heading in page.iter("h2")]
    apart = headings.index("Corpora whose gold a tool made")
    assert headings[apart + 1].startswith("by-a-tool")
    (section,) = page.xpath("//section[h2/@id='by-a-tool']")
    for caption in [*section.iter("figcaption"), *section.iter("caption")]:
        assert "gold made by readability.js" in caption.text_content().lower()
    assert "gold made by readability.js" in headings[apart + 1]
    assert not any(heading.startswith("by-a-tool") for heading in headings[:apart])


@pytest.mark.parametrize(
    ("corpus", "headings"),
    [
        ("stream", ["Ranking", "Histograms of precision, recall and F1", "F1 by domain",
                    "Learning curves", "Learning curves by domain", "Quality against cost",
                    "Who wins where", "Boundary cases", "Error analysis", "Every two extractors"]),
        ("classical", ["Ranking", "Histograms of precision, recall and F1", "F1 by extractor",
                       "Quality against cost", "Boundary cases", "Error analysis",
                       "Every two extractors"]),
        ("segments", ["Ranking", "Quality against cost", "Boundary cases", "Error analysis"]),
    ],
    ids=["stream", "classical", "segments"],
)  # fmt: skip
def test_a_corpus_has_what_can_be_said_of_it(
    page: html.HtmlElement, corpus: str, headings: list[str]
) -> None:
    """A corpus only has sections for which it has data.

    A corpus with one page per domain has no section "F1 by domain"; segments have no histograms.
    """
    (section,) = page.xpath(f"//section[h2/@id='{corpus}']")
    assert [heading.text_content() for heading in section.findall("h3")] == headings


def test_an_extractor_that_failed_on_everything_is_in_every_table(page: html.HtmlElement) -> None:
    """An extractor that failed on all pages has 0 in the ranking.

    Its failures are counted, and one of its messages is shown.
    """
    (section,) = page.xpath("//section[h2/@id='classical']")
    rows = [
        [cell.text_content() for cell in row]
        for row in section.xpath(".//tr[th[contains(., 'failing')]]")
    ]
    assert ["○failing", ".000", "±.000"] in [row[:3] for row in rows]
    assert ["0", "0", "0", "0", "4", "0", "0", "0", "0", "4"] in [row[1:] for row in rows]
    assert "ValueError: <b>no</b>" in section.text_content()


def test_differences_are_shown_side_by_side(page: html.HtmlElement) -> None:
    """In the gold, missing words are marked; in the result, extra words are marked."""
    (section,) = page.xpath("//section[h2/@id='classical']")
    missing = {mark.text_content() for mark in section.xpath(".//div[@class='text']/del")}
    extra = {mark.text_content() for mark in section.xpath(".//div[@class='text']/ins")}
    assert any("umbrella" in mark for mark in missing)
    assert "Home Share" in extra


def test_tables_are_written_as_markdown_and_csv_too(folder: Path) -> None:
    """The report also has one Markdown file, and a CSV file for each table."""
    names = {file.name for file in folder.iterdir()}
    assert {"report.md", "stream-ranking.csv", "stream-milestones.csv", "segments-segments.csv",
            "cost.csv", "index.html"} <= names  # fmt: skip
    assert not any(name.startswith("by-a-tool") for name in names)
    assert (folder / "gold-made-by-tools" / "by-a-tool-ranking.csv").exists()
    markdown = (folder / "report.md").read_text()
    assert "## stream" in markdown
    assert "<img" not in markdown
    assert "!\\[x\\](http" in markdown
    assert "![" not in markdown
    assert "\u202e" not in markdown


def test_no_table_of_an_earlier_report_stays(tmp_path: Path) -> None:
    """A new report deletes old tables.

    Otherwise a table of a deleted corpus would seem to be new.
    """
    folder = write_report(add(tmp_path, "single", pages(1, 1), {"plain": half})).parent
    before = {file.name for file in folder.iterdir()}
    (folder / "gone-ranking.csv").write_text("extractor,F1\n")
    write_report(Workspace(tmp_path))
    assert {file.name for file in folder.iterdir()} == before


def test_the_same_scores_make_the_same_page(tmp_path: Path) -> None:
    """The same scores give the same page, whatever the folder and the time are."""
    made = [
        write_report(
            add(tmp_path / name, "single", pages(2, 1), {"plain": whole, "urltree-strict": half})
        )
        for name in ("first", "second")
    ]
    assert made[0].read_bytes() == made[1].read_bytes()


def test_a_report_of_one_document_without_costs_can_be_made(tmp_path: Path) -> None:
    """A report needs only one document and no costs. The command prints the path of the page."""
    add(tmp_path, "single", pages(1, 1), {"plain": whole})
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert result.output.strip().endswith("index.html")
    made = html.document_fromstring((tmp_path / "report" / "index.html").read_bytes().decode())
    assert "Quality against cost" not in made.text_content()
    assert "Every document has a score of 1." in made.text_content()


def test_an_extractor_is_not_scored_where_its_constants_were_chosen(tmp_path: Path) -> None:
    """The report of a corpus leaves out an extractor whose constants were chosen on that corpus.

    The extractor is in no table, chart or file, and one sentence gives the reason.
    """
    made = write_report(add(tmp_path, EXPLORATION, pages(1, 2), {"nce": whole, "plain": half}))
    text = html.document_fromstring(made.read_bytes().decode()).text_content()
    assert "Left out because their constants were chosen on this corpus: nce." in text
    assert len(re.findall(r"\bnce\b", text)) == 1
    assert "plain" in text
    files = [file.read_text() for file in made.parent.iterdir() if file.suffix != ".html"]
    assert files
    assert not any(re.search(r"\bnce\b", each) for each in files)


def test_a_page_that_our_parser_refuses_is_shown_with_the_reason(tmp_path: Path) -> None:
    """A page that our parser refuses can be among the worst documents.

    It is shown with the reason.
    """
    given = [replace(page, html="<p>" * (MAX_TAGS + 1)) for page in pages(1, 1)]
    made = write_report(add(tmp_path, "large", given, {"plain": half}))
    assert f"tags, more than the limit of {MAX_TAGS}" in made.read_text()


def test_without_scores_the_report_says_which_verb_makes_them(tmp_path: Path) -> None:
    """A corpus without scores is an error that names the command `score`."""
    add(tmp_path, "bare", pages(1, 1), {})
    with pytest.raises(WorkspaceError, match="urltree evaluate score"):
        write_report(Workspace(tmp_path))
