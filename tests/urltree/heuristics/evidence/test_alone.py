"""Each signal is needed: there is a page on which only this signal decides."""

from __future__ import annotations

import pytest

from tests.urltree.heuristics.evidence.alone import PAGES, Alone
from tests.urltree.heuristics.evidence.site import kinds
from urltree.heuristics.evidence import EVIDENCE


def test_there_is_a_page_for_each_signal() -> None:
    """PAGES contains exactly one page for each signal of the heuristic."""
    assert set(PAGES) == set(EVIDENCE)


@pytest.mark.parametrize(
    ("signal", "page"), PAGES.items(), ids=[f"{n}: {p.what}" for n, p in PAGES.items()]
)
def test_a_signal_decides_alone(signal: str, page: Alone) -> None:
    """The block has the expected kind with the signal, and another kind without it."""
    assert kinds(page.html, page.past)[page.block] is page.kind
    assert kinds(page.html, page.past, without=signal)[page.block] is page.otherwise
