"""Parts of the long runs that need no Kafka: the pages, and the count of warnings."""

from __future__ import annotations

from bench.compact_pages import CompactSites, time_at
from bench.steady import count_warnings
from models import raw_html
from urltree.html.tokenizer import tokenize


def test_compact_pages_are_the_same_for_the_same_seed() -> None:
    """Two runs publish the same pages."""
    first, second = (
        list(sites.pages(sites.ranks(20), 0, time_at(1.5)))
        for sites in (CompactSites(50, seed=3), CompactSites(50, seed=3))
    )
    assert first == second
    assert len({page.message.value for page in first}) == 20


def test_a_compact_page_has_blocks_of_its_own_and_of_its_site() -> None:
    """The menu occurs on each page of a site, and the article on one page only."""
    sites = CompactSites(1)
    pages = [raw_html.decode(sites.page(n, 0, time_at(0)).message.value) for n in range(2)]
    one, other = ({block.text for block in tokenize(page.html).blocks} for page in pages)
    assert len(one) > 15
    assert 5 <= len(one & other) <= 10


def test_pages_follow_a_zipf_distribution() -> None:
    """The first of 1,000 domains has about a seventh of the pages with exponent 1."""
    ranks = CompactSites(1_000).ranks(10_000)
    assert 0.1 < ranks.count(0) / 10_000 < 0.17
    assert len(set(ranks)) > 800


def test_warnings_are_grouped_by_their_text_without_numbers() -> None:
    """Lines of the level info are not counted."""
    log = [
        "timestamp='2026-03-01T00:00:00Z' level='warning' event='lost 3 of 7' group='a'",
        "timestamp='2026-03-01T00:00:01Z' level='warning' event='lost 4 of 8' group='b'",
        "timestamp='2026-03-01T00:00:02Z' level='info' event='started'",
    ]
    assert count_warnings(log) == {"warning: 'lost # of #'": 2}
