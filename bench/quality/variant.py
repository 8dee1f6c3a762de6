"""What is measured: a heuristic by name, and whether it is given the records' titles."""

from __future__ import annotations

from typing import NamedTuple

from urltree.heuristics.evidence import EVIDENCE, Evidence

NAMES = "names"  # the evidence of elements and their class and id tokens


class Variant(NamedTuple):
    """A heuristic, and what it is given.

    Attributes:
        is_titled: the record's title is given, as a feed would; else the page's own is all.
    """

    heuristic: str
    is_titled: bool = True

    @property
    def label(self) -> str:
        """As tables name it."""
        return self.heuristic if self.is_titled else f"{self.heuristic}, no title"

    def without(self, evidence: str) -> Variant:
        """The same without a piece of evidence."""
        return self._replace(heuristic=f"{self.heuristic}-without-{evidence}")


def evidence_of(heuristic: str) -> tuple[str, ...]:
    """Names of what may be left out of a heuristic; none for those of the paper."""
    return EVIDENCE if heuristic == Evidence().name else ()
