"""Tests that the compiled matcher gives the same results as difflib, which the thesis uses."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urltree.html.tokenizer import tokenize
from urltree_evaluation.metrics import matcher
from urltree_evaluation.metrics.overlap import NOTHING
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import read_lines

DATA = Path(__file__).parents[3] / "shared" / "data"
DOCUMENTS = 500
OF_A_FILE = 19

# texts of a few frequent words; from 200 words on, difflib's autojunk ignores frequent words
long_texts = st.lists(
    st.one_of(st.sampled_from(["the", "a", "of"]), st.integers(0, 60).map(str)), max_size=400
)


def transcribed(gold: list[str], prediction: list[str]) -> tuple[float, float]:
    """Return precision and recall as in figure 4.4 of the thesis, computed with plain difflib."""
    plain = difflib.SequenceMatcher()
    plain.set_seqs(gold, prediction)
    common = sum(block.size for block in plain.get_matching_blocks()[:-1])
    return common / len(prediction), common / len(gold)


def documents() -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of the gold and of the whole text, for the first pages of each file."""
    for file in sorted(DATA.glob("*/*.jsonl.zst")):
        full = (record for record in read_lines(file) if record["gold"])
        for record in islice(full, OF_A_FILE):
            text = "\n".join(block.text for block in tokenize(record["html"]).blocks)
            pair = split_words(record["gold"]), split_words(text)
            if all(pair):
                yield pair


@pytest.mark.slow
def test_it_equals_a_transcription_on_real_pages(record: Callable[[str], None]) -> None:
    """The matcher equals plain difflib on 500 real documents."""
    if not DATA.exists():
        pytest.skip(f"no pages with gold at {DATA}")
    pairs = list(islice(documents(), DOCUMENTS))
    differences = sum(matcher.compare(*pair)[:2] != transcribed(*pair) for pair in pairs)
    longest = max(len(gold) * len(text) for gold, text in pairs)
    record(
        f"evaluation: the thesis' matcher differs from plain difflib on {differences} of "
        f"{len(pairs)} documents, of up to {longest:,} pairs of words"
    )
    assert (len(pairs), differences) == (DOCUMENTS, 0)


@given(long_texts.filter(bool), long_texts.filter(bool))
@settings(deadline=None)
def test_it_equals_a_transcription_on_any_words(gold: list[str], prediction: list[str]) -> None:
    """The matcher equals plain difflib on random words, so this test needs no stored pages."""
    assert matcher.compare(gold, prediction)[:2] == transcribed(gold, prediction)


def test_words_that_fill_a_long_prediction_do_not_begin_a_match() -> None:
    """Frequent words of a long prediction begin no match, because autojunk is on, as in the thesis.

    A longest common subsequence would include all these words.
    """
    assert matcher.compare(["x"] + ["the"] * 250, ["y"] + ["the"] * 250) == NOTHING
    assert matcher.compare(["x"] + ["the"] * 150, ["y"] + ["the"] * 150).f1 > 0.99


def test_gold_comes_first() -> None:
    """The order of the two texts matters, because autojunk applies only to the second one."""
    short, long = ["x"] + ["the"] * 150, ["y"] + ["the"] * 250
    assert matcher.compare(long, short).precision > 0.99
    assert matcher.compare(short, long) == NOTHING
