"""Where the text of pages comes from, and what reports about pages change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.crawl.decisions.polls import DAY, FEED, NOW, SITE, feed
from urltree.crawl.decisions.poll.answer import PageReport
from urltree.crawl.decisions.poll.content import apply_report, content_of, needs_content
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.source_options import Content, SourceOptions

AUTO = feed(options=SourceOptions(content=Content.AUTO))


def reported(state: FeedState, *coverage: float, walls: int = 0, at: float = NOW) -> FeedState:
    """Return the state after a report."""
    report = PageReport(site=SITE, feed=FEED, at=at, walls=walls, coverage=coverage)
    return apply_report(state, report, at)


def test_the_users_choice_applies_to_all_items() -> None:
    """Without `auto`, the option decides, and reports about coverage change nothing."""
    for content in (Content.PAGE, Content.FEED):
        state = feed(options=SourceOptions(content=content))
        assert content_of(reported(state, *[1.0] * 5), NOW, 99) is content
        assert needs_content(state, NOW) is (content is Content.FEED)


def test_only_five_items_are_read_both_ways() -> None:
    """Until the comparison is decided, the pages of the other items are fetched."""
    contents = [content_of(AUTO, NOW, number) for number in range(7)]
    assert contents == [Content.AUTO] * 5 + [Content.PAGE] * 2
    two_left = reported(AUTO, 1.0, 0.5, 1.0)
    assert [content_of(two_left, NOW, n) for n in (1, 2)] == [Content.AUTO, Content.PAGE]


@pytest.mark.parametrize(
    ("coverage", "decided"),
    [
        ((0.9, 1.0, 0.95, 0.9, 0.1), Content.FEED),
        ((0.9, 1.0, 0.95, 0.89, 0.1), Content.PAGE),
    ],
)
def test_the_feed_must_cover_four_of_five_pages(
    coverage: tuple[float, ...], decided: Content
) -> None:
    """The comparison decides for 30 days; then five items are compared again."""
    state = reported(reported(AUTO, *coverage[:2]), *coverage[2:])
    assert content_of(state, NOW + 29 * DAY) is decided
    assert needs_content(state, NOW) is (decided is Content.FEED)
    assert content_of(state, NOW + 30 * DAY) is Content.AUTO
    assert content_of(state, NOW + 30 * DAY, 5) is decided
    other = reported(state, *[0.0] * 5, at=NOW + 31 * DAY)
    assert content_of(other, NOW + 32 * DAY) is Content.PAGE


def test_a_decision_of_the_future_does_not_count() -> None:
    """A comparison that a wrong clock has dated is repeated."""
    state = replace(AUTO, content_decided=Content.FEED, content_decided_at=NOW + 90 * DAY)
    assert content_of(state, NOW) is Content.AUTO


def test_walls_are_counted() -> None:
    """Each report adds its walls."""
    assert reported(reported(feed(), walls=2), walls=1).walls == 3
