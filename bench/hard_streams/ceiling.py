"""Compute the best score that a selection of blocks can have, to check a generator's gold."""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from urltree.html.tokenizer import tokenize
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words


def ceiling(page: CorpusPage) -> float:
    """Return the F1 of all blocks of which most words are in the gold in the same order."""
    gold = split_words(page.gold or "")
    blocks = [split_words(block.text) for block in tokenize(page.html).blocks]
    said = [word for block in blocks for word in block]
    aligned = bytearray(len(said))
    for step in LCSseq.opcodes(said, gold):
        if step.tag == "equal":
            aligned[step.src_start : step.src_end] = b"\1" * (step.src_end - step.src_start)
    chosen, start = list[str](), 0
    for block in blocks:
        stop = start + len(block)
        if 2 * sum(aligned[start:stop]) > len(block):
            chosen += block
        start = stop
    return compare(gold, chosen).f1
