"""Each piece of evidence earns its place: there is a page on which it alone decides."""

from __future__ import annotations

import pytest

from tests.urltree.heuristics.evidence.alone import PAGES, Alone
from tests.urltree.heuristics.evidence.site import kinds
from urltree.heuristics.evidence import EVIDENCE


def test_there_is_a_page_for_each_piece_of_evidence() -> None:
    """A piece that is added needs one, one that goes takes its page along."""
    assert set(PAGES) == set(EVIDENCE)


@pytest.mark.parametrize(
    ("piece", "page"), PAGES.items(), ids=[f"{n}: {p.what}" for n, p in PAGES.items()]
)
def test_a_piece_of_evidence_decides_alone(piece: str, page: Alone) -> None:
    """The block is what the piece says; without it, it is something else."""
    assert kinds(page.html, page.past)[page.block] is page.kind
    assert kinds(page.html, page.past, without=piece)[page.block] is page.otherwise
