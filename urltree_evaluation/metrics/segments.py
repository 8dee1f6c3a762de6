"""Segments that must, and must not, be in the text, as trafilatura's evaluation counts them.

A segment is found where it is a part of the text, with runs of white space as one space on both
sides; case and punctuation count.
"""

from __future__ import annotations

from collections.abc import Sequence

from urltree_evaluation.score import Segments


def collapse_spaces(text: str) -> str:
    """A text with single spaces for white space, and none around."""
    return " ".join(text.split())


def compare(with_: Sequence[str], without: Sequence[str], text: str) -> Segments:
    """Count a page's segments; an empty text, as after a failure, has found none and kept none."""
    text = collapse_spaces(text)
    found = sum(collapse_spaces(segment) in text for segment in with_)
    kept = sum(collapse_spaces(segment) in text for segment in without)
    return Segments(found, len(with_) - found, kept, len(without) - kept)
