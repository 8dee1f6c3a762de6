"""Tests of the definition of a word, in any language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urltree_evaluation.metrics.words import split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hello, World!", ["hello", "world"], id="punctuation parts, case is lost"),
        pytest.param("a+b €5 x_y", ["a", "b", "5", "x", "y"], id="symbols part"),
        pytest.param("a\x00b\u200bc\u00add", ["a", "b", "c", "d"], id="controls part"),
        pytest.param("a\u00a0b\u2003c\nd", ["a", "b", "c", "d"], id="any white space parts"),
        pytest.param("Żółć naïve Ελλάδα", ["żółć", "naïve", "ελλάδα"], id="not ASCII is kept"),
        pytest.param("東京ab都", ["東", "京", "ab", "都"], id="Chinese by character"),
        pytest.param("ひらカタ々ー", ["ひ", "ら", "カ", "タ", "々", "ー"], id="kana by character"),
        pytest.param("한국 a", ["한", "국", "a"], id="Hangul by character"),
        pytest.param("𠮷野", ["𠮷", "野"], id="rare Chinese by character"),
        pytest.param("สวัสดี", ["สวัสดี"], id="marks stay in their word"),
        pytest.param(" …—\n", [], id="nothing but punctuation has no words"),
    ],
)
def test_words_are_what_white_space_parts(text: str, expected: list[str]) -> None:
    """Words are separated by white space and by characters of the Unicode categories P, S, C."""
    assert split_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Café №1, 東京!", ["caf", "1"], id="characters are deleted"),
        pytest.param("a\u00a0b—c", ["a", "b", "c"], id="what parts words still does"),
        pytest.param("Ελλάδα", [], id="words of other scripts vanish"),
    ],
)
def test_the_variant_of_the_thesis_has_ascii_alone(text: str, expected: list[str]) -> None:
    """The variant `ascii_only` deletes non-ASCII characters, like algorithm 3 of the thesis."""
    assert split_words(text, ascii_only=True) == expected


@given(st.text(st.characters(max_codepoint=127)))
@settings(deadline=None)
def test_both_variants_are_the_same_on_ascii(text: str) -> None:
    """Both variants give the same words of ASCII text."""
    assert split_words(text) == split_words(text, ascii_only=True)


@given(st.text(), st.text())
@settings(deadline=None)
def test_lines_can_be_split_apart(first: str, second: str) -> None:
    """The words of two lines are the words of each line, because no word spans a newline."""
    assert split_words(f"{first}\n{second}") == split_words(first) + split_words(second)
