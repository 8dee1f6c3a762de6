"""Variants of a heuristic: with or without the record's title, and without a kind of evidence."""

from __future__ import annotations

from typing import NamedTuple

from urltree.heuristics.evidence import EVIDENCE, Evidence

NAMES = "names"  # the evidence of element names, class names and ids


class Variant(NamedTuple):
    """A heuristic and its inputs.

    Attributes:
        heuristic: name of the heuristic.
        is_titled: whether the heuristic gets the record's title, for example from a feed. Otherwise
            it has only the page's own title.
    """

    heuristic: str
    is_titled: bool = True

    @property
    def label(self) -> str:
        """The name of the variant in tables."""
        return self.heuristic if self.is_titled else f"{self.heuristic}, no title"

    def without(self, evidence: str) -> Variant:
        """Return the variant without a kind of evidence."""
        return self._replace(heuristic=f"{self.heuristic}-without-{evidence}")


def evidence_of(heuristic: str) -> tuple[str, ...]:
    """Return the kinds of evidence that a heuristic can leave out; only `evidence` has any."""
    return EVIDENCE if heuristic == Evidence().name else ()
