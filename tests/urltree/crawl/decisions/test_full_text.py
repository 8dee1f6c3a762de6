"""Full text in a feed: the page that it makes, and the comparison with the fetched page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import urltree
from tests.urltree.listings import NAMES, article, headline, lead
from urltree import Page
from urltree.crawl.decisions.full_text import (
    MAX_WORDS,
    compare_content,
    coverage,
    page_of_item,
)
from urltree.crawl.decisions.poll.content import is_replacing

TEXTS = st.lists(st.sampled_from("abcd"), max_size=30)


def longest(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence by the textbook recurrence."""
    row = [0] * (len(second) + 1)
    for one in first:
        before = row
        row = [0]
        for at, other in enumerate(second):
            row.append(before[at] + 1 if one == other else max(before[at + 1], row[-1]))
    return row[-1]


@given(TEXTS, TEXTS)
def test_coverage_is_the_longest_common_subsequence(page: list[str], feed: list[str]) -> None:
    """The bit-parallel computation equals the textbook recurrence."""
    expected = longest(page, feed) / len(page) if page else float(bool(feed))
    assert coverage(" ".join(page), " ".join(feed)) == expected


@pytest.mark.parametrize(
    ("page", "feed", "share"),
    [
        ("One two, three.", "ONE — two three", 1.0),  # case and punctuation do not count
        ("Cafe\u0301 noir", "caf\u00e9 noir", 1.0),  # composed and decomposed letters are equal
        ("don\u2019t", "don't", 1.0),
        ("東京は雨", "東京は晴", 0.75),  # each character of these scripts is a word
        ("one two three four", "four three", 0.25),  # the order counts
        ("one two", "", 0.0),
        ("", "one", 1.0),
        ("", "", 0.0),
    ],
)
def test_words_are_compared(page: str, feed: str, share: float) -> None:
    """Words are compared without case, punctuation and forms of Unicode."""
    assert coverage(page, feed) == share


def test_a_long_text_is_compared_by_its_first_words() -> None:
    """Words after the first 5,000 change nothing, so the time is bounded."""
    words = [f"w{n}" for n in range(MAX_WORDS)]
    assert coverage(" ".join([*words, *"abc"]), " ".join([*words, *"xyz"])) == 1.0
    assert coverage(" ".join([*words, *"abc"]), " ".join(words[:-500])) == 0.9


def test_a_page_is_compared_without_menu_and_teasers() -> None:
    """Only the main content of a page counts: its menu is not in the feed."""
    name = NAMES[0]
    page, body = article(name), article(name).partition("</h1>")[2].partition("</div>")[0]
    full = page_of_item(headline(name), body)
    assert compare_content(page, None, full) == 1.0
    assert compare_content(page.encode("utf-16"), "text/html; charset=utf-16", full) == 1.0


def test_a_summary_does_not_cover_its_page() -> None:
    """A feed with the first paragraph alone covers less than half of the article."""
    name = NAMES[0]
    summary = page_of_item(headline(name), f"<p>{lead(name)}</p>")
    assert compare_content(article(name), None, summary) < 0.5


@pytest.mark.parametrize(
    ("title", "content", "text"),
    [
        ("Hello", "<p>World</p>", "Hello\nWorld"),
        (" A &\n<b> ", "<p>World</p>", "A & <b>\nWorld"),  # the title is text
        ("Hello!", "<p><b>Hello</b></p><p>World</p>", "Hello\nWorld"),
        ("Hello", "<p>By me</p><h1>Hello</h1><p>World</p>", "By me\nHello\nWorld"),
        (None, "<p>World</p>", "World"),
        (" ", "World", "World"),
        ("Hello", "", "Hello"),
        ("Hello", "<html><body><p>World</body></html>", "Hello\nWorld"),
    ],
)
def test_the_text_of_an_item_begins_with_its_title(
    title: str | None, content: str, text: str
) -> None:
    """The title becomes a heading, unless one of the first blocks of the content repeats it."""
    page = Page(url="https://example.org/a", html=page_of_item(title, content), content_from="feed")
    (said,) = urltree.extract([page])
    assert said.text == text


@pytest.mark.parametrize(
    ("shares", "decision"),
    [
        ((1.0,) * 4, None),
        ((1.0, 0.9, 0.95, 0.0, 1.0), True),
        ((1.0, 0.89, 0.95, 0.0, 1.0), False),
        ((0.0, 0.0, 1.0, 1.0, 1.0, 1.0), True),  # only the last five count
    ],
)
def test_four_of_five_pages_decide(shares: tuple[float, ...], decision: bool | None) -> None:
    """A feed replaces its pages if it covers four of the last five to .9."""
    assert is_replacing(shares) is decision
