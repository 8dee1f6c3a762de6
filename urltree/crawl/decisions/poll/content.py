"""Where the text of a source's next pages comes from, and what reports about its pages change.

    content: auto      undecided ──five items, read both ways──▶ page or feed ──30 days──▶ undecided
                                    each report adds their coverage

The feed decides if its text covers at least `COVERED` of the page's text in four of five items. It
is compared again after 30 days; until the result is there, the former one applies to all items
except those that are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from urltree.crawl.decisions.poll.answer import PageReport
from urltree.crawl.decisions.poll.feed_state import FeedState
from urltree.crawl.decisions.poll.source_options import Content
from urltree.crawl.decisions.timing import DAY, bounded

COMPARED = 5  # items that are read both ways
ENOUGH = 4  # of them, items whose page the feed must cover
COVERED = 0.9  # smallest share of the page's words that the feed's text must contain
COMPARED_AGAIN = 30 * DAY  # seconds after which a source is compared again


def content_of(state: FeedState, now: float, number: int = 0) -> Content:
    """Return where the text of a new item comes from.

    Args:
        state: state of the source.
        now: current time, seconds since 1970.
        number: number of the item among the new items of the poll, from 0. Only as many items are
            read both ways as the comparison still needs.
    """
    if state.options.content is not Content.AUTO:
        return state.options.content
    decided_at = bounded(state.content_decided_at, now)
    is_decided = decided_at is not None and now - decided_at < COMPARED_AGAIN
    if not is_decided and number < COMPARED - len(state.coverage):
        return Content.AUTO
    return state.content_decided or Content.PAGE


def needs_content(state: FeedState, now: float) -> bool:
    """Return whether the full text of the items is needed."""
    return content_of(state, now) is not Content.PAGE


def apply_report(state: FeedState, report: PageReport, now: float) -> FeedState:
    """Return the state after a report about the pages of the source.

    Args:
        state: state before the report.
        report: walls and coverage since the last report.
        now: current time, seconds since 1970.
    """
    state = replace(state, walls=state.walls + report.walls)
    decided_at = bounded(state.content_decided_at, now)
    is_decided = decided_at is not None and now - decided_at < COMPARED_AGAIN
    if state.options.content is not Content.AUTO or is_decided or not report.coverage:
        return state
    coverage = (*state.coverage, *report.coverage)[:COMPARED]
    replaces = is_replacing(coverage)
    if replaces is None:
        return replace(state, coverage=coverage)
    return replace(
        state,
        coverage=(),
        content_decided=Content.FEED if replaces else Content.PAGE,
        content_decided_at=now,
    )


def is_replacing(shares: Sequence[float]) -> bool | None:
    """Return whether a feed's text replaces its pages; None if too few pages were compared.

    Args:
        shares: coverage of the pages that were compared; the last five count.
    """
    if len(shares) < COMPARED:
        return None
    return sum(share >= COVERED for share in shares[-COMPARED:]) >= ENOUGH
