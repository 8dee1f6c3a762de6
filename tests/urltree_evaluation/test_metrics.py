"""Tests of metrics: small cases by hand, and comparisons with a simple model."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urltree_evaluation.metrics import bag, characters, matcher, segments, sequences
from urltree_evaluation.metrics.overlap import overlap
from urltree_evaluation.metrics.shingles import compare as compare_shingles
from urltree_evaluation.metrics.shingles import count_shingles
from urltree_evaluation.score import PRF, Segments

SENTENCE = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]
some_words = st.lists(st.sampled_from("abcde"), max_size=30)


def model_of_lcs(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence by the textbook's table."""
    row = [0] * (len(second) + 1)
    for a in first:
        before = row
        row = [0]
        for place, b in enumerate(second):
            row.append(before[place] + 1 if a == b else max(row[-1], before[place + 1]))
    return row[-1]


def test_precision_is_of_what_was_said_and_recall_of_the_gold() -> None:
    """Precision divides by the prediction, recall by the gold, and F1 is their harmonic mean.

    The formulas are equations 3.8 to 3.10 of the thesis.
    """
    result = overlap(2, gold=8, prediction=4)
    assert result[:2] == (0.5, 0.25)
    assert result.f1 == pytest.approx(2 * 0.5 * 0.25 / (0.5 + 0.25))


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        pytest.param(0, 0, 1.0, id="both empty"),
        pytest.param(0, 3, 0.0, id="empty gold"),
        pytest.param(3, 0, 0.0, id="empty result"),
        pytest.param(3, 3, 0.0, id="nothing in common"),
    ],
)
def test_what_the_thesis_leaves_undefined_is_one_or_zero(
    gold: int, prediction: int, expected: float
) -> None:
    """Two empty texts give 1; the other cases that the thesis leaves undefined give 0."""
    assert overlap(0, gold, prediction) == PRF(expected, expected, expected)


@given(some_words, some_words)
@settings(deadline=None)
def test_sequences_are_compared_by_the_textbook(gold: list[str], prediction: list[str]) -> None:
    """The score of sequences uses the exact longest common subsequence, not an estimate."""
    common = model_of_lcs(gold, prediction)
    assert sequences.compare(gold, prediction) == overlap(common, len(gold), len(prediction))


@given(some_words, some_words)
@settings(deadline=None)
def test_the_stricter_a_metric_the_lower_it_is(gold: list[str], prediction: list[str]) -> None:
    """The score by matching blocks is at most that by sequences, which is at most that by bags.

    Matching blocks are a common subsequence, and both bags contain each common subsequence.
    """
    blocks = matcher.compare(gold, prediction).f1
    sequence = sequences.compare(gold, prediction).f1
    assert blocks <= sequence <= bag.compare(Counter(gold), Counter(prediction)).f1


def test_order_matters_to_sequences_and_not_to_bags() -> None:
    """Reversing the order of words lowers the score of sequences but not of bags.

    This is the reason why the thesis uses sequences.
    """
    backwards = SENTENCE[::-1]
    assert sequences.compare(SENTENCE, backwards).f1 < 0.5
    assert bag.compare(Counter(SENTENCE), Counter(backwards)) == PRF(1.0, 1.0, 1.0)


def test_a_word_that_is_said_twice_counts_once_where_the_gold_has_it_once() -> None:
    """A bag counts each occurrence of a word, as in NCE's evaluation."""
    assert bag.compare(Counter("ab"), Counter("aab")) == overlap(2, gold=2, prediction=3)


@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30))
@settings(deadline=None)
def test_characters_are_compared_by_the_textbook(gold: str, prediction: str) -> None:
    """The score of characters uses the exact longest common subsequence, as for words."""
    common = model_of_lcs(list(gold), list(prediction))
    assert characters.compare(gold, prediction) == overlap(common, len(gold), len(prediction))


def test_characters_of_huge_texts_are_compared_in_runs() -> None:
    """Texts above a given length are compared by words; here only the word "a" is common.

    A comparison of two texts of a megabyte by characters would take most of a minute.
    """
    gold, prediction = "a bc.", "a cb."
    assert characters.compare(gold, prediction, bound=25) == overlap(4, 5, 5)
    assert characters.compare(gold, prediction, bound=24) == overlap(1, 2, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("A b, c d-e", [("A", "b", "c", "d"), ("b", "c", "d", "e")], id="four words"),
        pytest.param("A b.", [("A", "b")], id="a short text is one shingle"),
        pytest.param("…", [], id="no words, no shingles"),
        pytest.param("x_1 日本 b c", [("x_1", "日本", "b", "c")], id="words are runs of \\w"),
    ],
)
def test_shingles_are_runs_of_four_words(text: str, expected: list[tuple[str, ...]]) -> None:
    """Shingles are runs of four words, as in scrapinghub's evaluation."""
    assert count_shingles(text) == Counter(expected)


def test_shingles_count_as_often_as_they_occur() -> None:
    """A repeated shingle counts repeatedly.

    Three of the five predicted shingles are among the gold's four.
    """
    gold, prediction = count_shingles("a a a a a a a"), count_shingles("a a a a a a b b")
    assert compare_shingles(gold, prediction) == overlap(3, 4, 5)


def test_a_segment_is_found_whatever_white_space_is_in_it() -> None:
    """White space in a segment does not matter.

    Case and punctuation matter, as in trafilatura's evaluation.
    """
    text = "All rights\n reserved. It  began\tso: gently."
    found = segments.compare(
        ["It began", "gently!", "so:\ngently"], ["all rights", "All rights"], text
    )
    assert found == Segments(2, 1, 1, 1)


def test_an_empty_text_misses_every_segment_and_keeps_none() -> None:
    """An empty text contains no segment, neither a wanted nor an unwanted one.

    Failures count as empty texts.
    """
    assert segments.compare(["a", "b"], ["c"], "") == Segments(0, 2, 0, 1)
