"""Tests of every extractor on normal and broken pages, and of what stream extractors remember."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from urltree import Extractor
from urltree.page import PageError, Reason
from urltree_evaluation import CorpusPage, DuplicatePage
from urltree_evaluation.extractors import catalogue
from urltree_evaluation.extractors.html_text import html_text
from urltree_evaluation.extractors.registry import ExtractFunction

SINGLE = [
    "all-text",
    "boilerpy3-article",
    "boilerpy3-article-sentences",
    "boilerpy3-canola",
    "boilerpy3-default",
    "boilerpy3-keep-everything",
    "boilerpy3-largest-content",
    "boilerpy3-num-words-rules",
    "justext",
    "magic-html",
    "newspaper4k",
    "readability-lxml",
    "resiliparse",
    "trafilatura",
    "trafilatura-fast",
    "trafilatura-precision",
]
STREAM = ["drop-seen", "trafilatura-deduplicate"]
OURS = [
    "urltree-strict",
    "urltree-strict-support-100",
    "urltree-strict-at-domain",
    "urltree-relaxed-at-domain-500",
]

WORDS = ("river", "stone", "window", "morning", "letter", "garden", "winter", "bridge", "silver")
LENGTH = 12  # words of a paragraph; jusText only accepts paragraphs of more than 200 characters
MENU = "<nav><ul><li><a href='/'>Home</a><li><a href='/news'>News</a></ul></nav>"
COMMENTS = """<div id="comments" class="comments"><h3>Comments</h3>
<div class="comment"><p>Somebody answered this with a remark of no value.</p></div></div>
"""


def paragraph(number: int) -> str:
    """Return a unique sentence that is long enough for every tool to classify it as content."""
    chosen = Random(number).choices(WORDS, k=LENGTH)
    return f"The {' and the '.join(chosen)} were there, and in the year {1500 + number} so was he."


def article(number: int = 0, *, extra: str = "") -> str:
    """Return a page with a menu, an article of six paragraphs with a table, and comments."""
    body = "".join(f"<p>{paragraph(6 * number + each)}</p>" for each in range(6))
    cell = "cell with words, " * 6  # some tools drop a table with few words
    table = f"<table><tr><td>{cell}</td><td>{number}</td></tr></table>"
    return (
        f"<html lang='en'><head><title>Title {number}</title></head><body>{MENU}"
        f"<article><h1>Title {number}</h1>{body}{table}{extra}</article>{COMMENTS}</body></html>"
    )


def page(html: str, number: int = 0, published: str | None = None) -> CorpusPage:
    """Return a page of example.org."""
    url = f"https://example.org/articles/{number}"
    return CorpusPage(str(number), url, "example.org", html, published)


def made(name: str) -> ExtractFunction:
    """Return a new extractor of that name, or skip the test if it is not available."""
    found, absent = catalogue.load_extractors()
    if name not in found:
        pytest.skip(f"{name}: {absent}")
    return found[name].make()


@pytest.mark.parametrize("name", SINGLE + STREAM + OURS)
def test_the_article_is_found(name: str) -> None:
    """Each extractor returns every paragraph as plain text on its own line, in the page's order."""
    lines = (made(name)(page(article())) or "").splitlines()
    found = [line.strip() for line in lines if " year " in line]
    assert found == [paragraph(number) for number in range(6)]
    assert "<" not in "".join(lines)


@pytest.mark.parametrize("name", ["trafilatura", "trafilatura-fast", "resiliparse", "magic-html"])
def test_comments_are_off_and_tables_on(name: str) -> None:
    """Tools with options for comments and tables drop comments and keep tables."""
    text = made(name)(page(article())) or ""
    assert "cell" in text
    assert "Somebody answered" not in text
    assert "Home" not in text


@pytest.mark.parametrize("name", SINGLE + STREAM)
@pytest.mark.parametrize("html", ["<html><body></body></html>", "<p> </p>"], ids=["body", "p"])
def test_where_nothing_is_found_nothing_is_said(name: str, html: str) -> None:
    """On a page without text, an extractor returns no text or raises an exception."""
    extract, text = made(name), None
    with suppress(Exception):  # each tool raises its own exceptions
        text = extract(page(html))
    assert not (text or "").strip()


@pytest.mark.parametrize("name", SINGLE + STREAM + OURS)
def test_a_page_without_url_is_as_good(name: str) -> None:
    """Extractors work on pages without URL, because some corpora have no URLs."""
    text = made(name)(CorpusPage("1", "", "", article()))
    assert paragraph(3) in (text or "")


@pytest.mark.slow
def test_no_extractor_reaches_out_of_its_process(tmp_path: Path) -> None:
    """Extractors make no request, start no process, print nothing, and write only temporary files.

    The temporary folder is new, because a tool may fill a cache there on its first run.
    """
    script = Path(__file__).with_name("watched_extractors.py")
    command = [sys.executable, "-B", str(script)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert (run.stdout, run.stderr) == ("", "")


def test_loading_leaves_logging_alone() -> None:
    """Loading the extractors does not change the logging of the process.

    Some tools would otherwise configure it.
    """
    catalogue.load_extractors()
    assert logging.root.level == logging.WARNING
    assert not [each for each in logging.root.handlers if type(each) is logging.StreamHandler]


def test_html_becomes_text_block_by_block() -> None:
    """Each block of a page becomes one line; inline elements do not break lines."""
    assert html_text("<div>a <b>b</b><p>c<br>d</p></div><script>e</script>") == "a b\nc\nd"


def test_what_a_domain_had_is_dropped() -> None:
    """`drop-seen` drops blocks of earlier pages of the domain, but not those of other domains."""
    extract = made("drop-seen")
    assert extract(page("<p>menu<p>one<p>one")) == "menu\none\none"
    assert extract(page("<p>menu<p>two")) == "two"
    elsewhere = CorpusPage("9", "https://example.net/", "example.net", "<p>menu<p>one")
    assert extract(elsewhere) == "menu\none"


def test_trafilatura_remembers_for_a_part_alone() -> None:
    """The extractor drops a long paragraph after it has occurred on some pages of a part.

    In the next part, it keeps the paragraph at first.
    """
    notice = "This notice stands on every page of the site, whatever the page is about, and " * 3
    extract = made("trafilatura-deduplicate")
    texts = [extract(page(article(n, extra=f"<p>{notice}</p>"), n)) or "" for n in range(8)]
    assert "This notice" in texts[0]
    assert "This notice" not in texts[-1]
    assert paragraph(6 * 7) in texts[-1]
    anew = made("trafilatura-deduplicate")(page(article(9, extra=f"<p>{notice}</p>"))) or ""
    assert "This notice" in anew


@pytest.mark.parametrize("name", OURS)
def test_ours_say_what_the_library_says(name: str) -> None:
    """On each page, our extractors return the same text as the library's `Extractor`."""
    extract, heuristic = made(name), name.removeprefix("urltree-")
    times = [f"2020-01-{day:02}" for day in range(1, 31)]
    with Extractor(heuristic=heuristic) as library:
        for number, day in enumerate(times):
            html, url = article(number), f"https://example.org/articles/{number}"
            fields = {"url": url, "html": html, "published": f"{day}T00:00:00Z"}
            assert extract(page(html, number, day)) == library.extract(fields).text


def test_ours_learn_a_site() -> None:
    """Our extractors drop the menu after some pages of a site, so they learn from earlier pages."""
    extract = made("urltree-strict")
    texts = [extract(page(article(number), number)) or "" for number in range(20)]
    assert "Home" in texts[0]
    assert "Home" not in texts[-1]
    assert paragraph(6 * 19) in texts[-1]


def test_ours_say_that_a_page_was_seen_before() -> None:
    """The message of `DuplicatePage` is the step of deduplication that detected the page."""
    extract = made("urltree-strict")
    extract(page(article()))
    with pytest.raises(DuplicatePage, match="url"):
        extract(page(article()))


def test_ours_fail_on_a_page_at_fault() -> None:
    """On a page that the library refuses, our extractors raise the library's `PageError`."""
    with pytest.raises(PageError) as error:
        made("urltree-strict")(page(""))
    assert error.value.reason is Reason.EMPTY


@pytest.mark.parametrize(
    "published",
    ["2020-02-03T04:05:06Z", "2020-02-03T04:05:06+02:00", "2020-02-03 04:05", "2020-02-03", "soon"],
)
def test_ours_take_any_time_of_publication(published: str) -> None:
    """Our extractors accept publication times without time of day or offset, and even invalid ones.

    The library itself requires complete ISO 8601 times.
    """
    assert made("urltree-strict")(page(article(), published=published))
