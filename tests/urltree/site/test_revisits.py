"""Revisits: which page is a new version, which version is later, and how each is treated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.urltree.builders import document, text_block
from urltree.address.url_key import UrlKey
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.html.blocks import TextBlock
from urltree.page import Page
from urltree.site.deduplication import Arrival, Duplicate, Onward, Step, decide
from urltree.site.revisits import content_digest, is_older, superseded_by
from urltree.site.row import Row
from urltree.site.seen import HORIZON, Horizon, Seen, Version
from urltree.site.site import Site
from urltree.tree.window import DAY

KEY = UrlKey("example.org", "https://example.org/a?id=1", "https://example.org/a", "0a" * 16)
PAGE = Page(url="http://t.example/1", response_url="https://example.org/a?id=1", html="")
SEEN = replace(
    Seen.of("raw-html/0/5", 7, PAGE.url or "", PAGE.response_url or "", KEY.canonical),
    version=Version(content=1, time=9),
)
LATER, EARLIER = "raw-html/0/10", "raw-html/0/4"


def decided(
    stored: Seen, page: Page = PAGE, origin: str = LATER, content: int = 2, time: int = 0
) -> Onward | Duplicate:
    """Decide about a page that is a revisit, with `revisits` set to `replace`.

    The page has no date; `time` is the newest document time of its site.
    """
    return decide(
        page, [KEY], origin, Horizon([time] * 5), lambda _: stored.encode(), lambda: content
    )


def linked(text: str, share: float = 1.0) -> TextBlock:
    """Return a block whose text is inside links; `share` is the linked part of the text."""
    return text_block(0, text)._replace(link_share=share)


def test_a_page_that_has_changed_supersedes_what_was_seen() -> None:
    """A changed page supersedes its former version under the same id.

    The `seen` record gets the new origin, and keeps the time that the horizon uses.
    """
    version = Version(2, 12)
    seen = replace(SEEN, origin=LATER, version=version)
    assert decided(SEEN, time=12) == Onward(KEY, seen, Arrival.REVISIT)


def test_a_page_that_has_not_changed_is_a_duplicate() -> None:
    """An unchanged page is a duplicate under the step that reveals it, as with `drop`."""
    assert decided(SEEN, content=1) == Duplicate(KEY, SEEN.origin, Step.REQUEST_URL)


@pytest.mark.parametrize(
    ("page", "canonical", "supersedes"),
    [
        (replace(PAGE, response_url="https://example.org/a?session=2"), "other", True),
        (replace(PAGE, url="http://t.example/2"), KEY.canonical, True),
        (Page(url="https://EXAMPLE.org/a?id=1#top", html=""), KEY.canonical, True),
        (Page(url="https://example.org/a?id=1&utm_source=x", html=""), "other", False),
    ],
    ids=["request URL", "response URL", "canonical", "rule"],
)
def test_only_the_same_address_supersedes(page: Page, canonical: str, *, supersedes: bool) -> None:
    """A page supersedes another only if their URLs are equal before the rules are applied.

    If only a rule makes the URLs equal, the page is a duplicate, because the rule may be wrong.
    """
    key = replace(KEY, canonical=canonical)
    outcome = decide(page, [key], LATER, Horizon(), lambda _: SEEN.encode(), lambda: 2)
    assert isinstance(outcome, Onward) == supersedes
    assert supersedes or outcome == Duplicate(key, SEEN.origin, Step.RULE)


def test_an_older_version_that_comes_again_is_superseded() -> None:
    """An older version that arrives again is a superseded duplicate, whatever its content is."""
    for content in (1, 2):
        outcome = decided(SEEN, origin=EARLIER, content=content)
        assert outcome == Duplicate(KEY, SEEN.origin, Step.SUPERSEDED)


def test_the_version_that_was_forwarded_is_a_replay() -> None:
    """The version that was forwarded last is a replay, and its `seen` record does not change."""
    assert decided(SEEN, origin=SEEN.origin) == Onward(KEY, SEEN, Arrival.REPLAY)


def test_a_new_page_is_stored_with_its_version() -> None:
    """The `seen` record of a new page stores its version, to compare the first revisit with it."""
    outcome = decide(PAGE, [KEY], LATER, Horizon([9]), lambda _: None, lambda: 5)
    assert isinstance(outcome, Onward)
    assert (outcome.arrival, outcome.seen.version) == (Arrival.NEW, Version(5, 9))


def test_what_was_seen_while_revisits_were_dropped_is_superseded_once() -> None:
    """A `seen` record without a version is superseded once, because the former content is unknown.

    After that, the unchanged page is a duplicate.
    """
    first = decided(replace(SEEN, version=None), content=1)
    assert isinstance(first, Onward)
    assert first.arrival is Arrival.REVISIT
    again = decided(first.seen, content=1, origin="raw-html/0/11")
    assert again == Duplicate(KEY, LATER, Step.REQUEST_URL)


def test_a_version_is_a_duplicate_while_revisits_are_dropped() -> None:
    """With `drop` a revisit is a duplicate, even if the record was stored with `replace`."""
    outcome = decide(PAGE, [KEY], LATER, Horizon(), lambda _: SEEN.encode())
    assert outcome == Duplicate(KEY, SEEN.origin, Step.REQUEST_URL)


def test_the_horizon_runs_from_the_first_version() -> None:
    """A revisit is a new page if the first version is older than the horizon, even if unchanged.

    The time of a later version does not matter.
    """
    outcome = decided(SEEN, content=1, time=HORIZON + 8)
    assert isinstance(outcome, Onward)
    assert (outcome.arrival, outcome.seen.time) == (Arrival.NEW, HORIZON + 8)


@pytest.mark.parametrize(
    ("origin", "time", "older"),
    [
        ("raw-html/0/9", 0, True),
        ("raw-html/0/11", 0, False),
        ("raw-html/0/10", 0, False),
        ("raw-html/1/9", DAY - 1, True),
        ("raw-html/1/99", DAY - 1, True),
        ("raw-html/1/9", DAY, False),
        ("raw-html/1/9", None, False),
        ("mine", None, False),
        ("mine", DAY - 1, True),
    ],
)
def test_offsets_order_a_partition_and_times_what_lies_in_several(
    origin: str, time: int | None, *, older: bool
) -> None:
    """Within a partition, the version with the smaller offset is the older one.

    Between partitions, the version with the earlier time is the older one. If neither decides, the
    version that arrives is not older. The stored version is raw-html/0/10, and its time is the end
    of day 1.
    """
    assert is_older(origin, time, "raw-html/0/10", DAY) == older


@pytest.mark.parametrize(
    ("blocks", "changed"),
    [
        ([text_block(1, "12 were hurt")], True),
        ([text_block(1, "10 were hurt."), linked("Read on", 0.7)], True),
        ([text_block(1, "10 were hurt."), linked("Read")], False),
        ([linked("Most read"), text_block(1, "10 were hurt.")], False),
        ([text_block(1, "10 were hurt."), linked("a headline of another page")], True),
    ],
    ids=["a number", "partly a link", "a link", "a link before", "mostly links"],
)
def test_what_changes_a_page(blocks: list[TextBlock], *, changed: bool) -> None:
    """A page has a new version if a block changes that contains text outside links.

    A changed number is enough. If links make up more than half of the page's text, a changed link
    makes a new version too.
    """
    assert (content_digest(blocks) != content_digest([text_block(1, "10 were hurt.")])) == changed


def test_a_row_of_a_later_version_is_not_replaced_by_an_earlier_one() -> None:
    """A document is superseded if its stored row is that of a later version.

    `superseded_by` returns the origin of the later version.
    """
    domain = Site(heuristic(DEFAULT), None)
    row = Row.decode(domain.learn(document(1, [7], origin=LATER), None).row)
    assert superseded_by(document(1, [7, 8], origin=EARLIER), row) == LATER
    assert superseded_by(document(1, [7, 8], origin=LATER), row) is None
    assert superseded_by(document(1, [7, 8], origin="raw-html/0/11"), row) is None
    assert superseded_by(document(1, [7]), None) is None
