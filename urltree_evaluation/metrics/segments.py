"""Count the segments that must be, or must not be, in the text, as trafilatura's evaluation does.

A segment is found if it is a substring of the text. Before the comparison, each run of white space
in the segment and in the text is replaced by one space. Case and punctuation count.
"""

from __future__ import annotations

from collections.abc import Sequence

from urltree_evaluation.score import Segments


def collapse_spaces(text: str) -> str:
    """Replace each run of white space by one space, and strip the text."""
    return " ".join(text.split())


def compare(with_: Sequence[str], without: Sequence[str], text: str) -> Segments:
    """Count the segments of a page that a text contains. An empty text contains no segment."""
    text = collapse_spaces(text)
    found = sum(collapse_spaces(segment) in text for segment in with_)
    kept = sum(collapse_spaces(segment) in text for segment in without)
    return Segments(found, len(with_) - found, kept, len(without) - kept)
