"""Variants of a heuristic that are measured: with and without titles or kinds of evidence."""

from __future__ import annotations

from typing import NamedTuple

from urltree.heuristics.evidence import EVIDENCE, Evidence

NAMES = "names"  # evidence of elements and their class and id tokens


class Variant(NamedTuple):
    """A heuristic and its inputs.

    Attributes:
        heuristic: name of the heuristic.
        is_titled: whether it gets the record's title, as from a feed; else the page's own is all.
    """

    heuristic: str
    is_titled: bool = True

    @property
    def label(self) -> str:
        """Name for tables."""
        return self.heuristic if self.is_titled else f"{self.heuristic}, no title"

    def without(self, evidence: str) -> Variant:
        """Return the variant without a kind of evidence."""
        return self._replace(heuristic=f"{self.heuristic}-without-{evidence}")


def evidence_of(heuristic: str) -> tuple[str, ...]:
    """Return the kinds of evidence that can be left out; the paper's heuristics have none."""
    return EVIDENCE if heuristic == Evidence().name else ()
