"""Tests of untrusted text in the report: sanitizing, escaping and marked differences."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.report.differences import excerpt, locate_words, mark_differences
from urltree_evaluation.report.sanitizing import anchor, sanitize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("a\x85b", "a\ufffdb"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\u2066b", "a[U+2066]b"),
        ("a\tb\nc", "a\tb\nc"),
        ("żółć 東京 🙂", "żółć 東京 🙂"),
    ],
    ids=["nul", "surrogate", "c1", "override", "isolate", "white space", "letters"],
)
def test_what_html_may_not_hold_is_replaced_and_bidi_controls_are_shown(
    text: str, shown: str
) -> None:
    """Characters that HTML forbids are replaced, and controls of text direction become visible.

    Letters of all scripts are unchanged.
    """
    assert sanitize(text) == shown


def test_anchors_of_different_names_differ() -> None:
    """Anchors of different names differ.

    The names may contain the separator or an encoded character.
    """
    names = [("a", "b"), ("a_b",), ("a.5f.b",), ("a b",), ("a", "", "b"), ("A", "b")]
    assert len({anchor(*name) for name in names}) == len(names)


def test_words_missing_are_struck_out_and_words_too_much_underlined() -> None:
    """Differences in case and punctuation are not marked; adjacent words are marked together."""
    gold, result = mark_differences(
        "Rain is now expected, today.", "Share! rain EXPECTED today Like it"
    )
    assert gold == "Rain <del>is now</del> expected, today."
    assert result == "<ins>Share</ins>! rain EXPECTED today <ins>Like it</ins>"


def test_texts_without_spaces_differ_by_character() -> None:
    """Texts without spaces are compared by character, as in the metric."""
    assert mark_differences("東京は雨", "東京雨").gold == "東京<del>は</del>雨"


@pytest.mark.parametrize(
    "text", ["Café №1, 東京!", "don't  stop", "", "…", "ab한국cd", "ﾊﾛ x\u0301y", "i\u0307 İ"]
)
def test_located_words_are_the_metrics_words(text: str) -> None:
    """The marked words are those of the metric, so that the marks show what was counted."""
    assert [each.word for each in locate_words(text)] == split_words(text)


def test_texts_are_escaped_on_both_sides_of_a_mark() -> None:
    """Text is escaped beside a mark, inside a mark, and in a text without marks."""
    gold, result = mark_differences("<b>one</b> two", '<script>alert("x")</script> two')
    assert "<b>" not in gold
    assert "<script" not in result
    assert "&lt;" in gold
    assert "&lt;" in result
    assert excerpt("<i>") == Markup("&lt;i&gt;")


def test_a_long_text_is_cut_and_says_so() -> None:
    """A long text is cut with a note, and words after the cut are still compared."""
    gold, result = mark_differences("one " * 50, "one " * 49 + "two", shown=20)
    assert gold.startswith("one one one one one <span")
    assert "cut after 20 of 200 characters" in gold
    assert "two" not in result
    assert excerpt("abc", shown=3) == "abc"
    assert "cut after 2 of 3 characters" in excerpt("abc", shown=2)


def test_long_parts_that_are_alike_are_shortened() -> None:
    """Long equal parts are shortened, so that differences far down in a text are visible."""
    alike = "one " * 1000
    gold, result = mark_differences(f"{alike} missing {alike}", f"{alike} extra {alike}")
    assert "<del>missing</del>" in gold
    assert "<ins>extra</ins>" in result
    assert gold.count("equal characters") == 2
    assert len(gold) < 1000


def test_a_mark_that_reaches_over_the_cut_is_closed() -> None:
    """A mark that continues after the cut is closed at the cut."""
    gold, _ = mark_differences("x " * 100, "", shown=9)
    assert gold.startswith("<del>x x x x x</del><span")
