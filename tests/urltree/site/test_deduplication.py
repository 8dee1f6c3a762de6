"""Deduplication: whether a page is new, a replay or a duplicate, and under which URL key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from urltree.address.url_key import UrlKey
from urltree.page import Page
from urltree.site.deduplication import Arrival, Duplicate, Onward, Step, decide
from urltree.site.seen import HORIZON, Horizon, Seen
from urltree.tree.window import DAY

KEY = UrlKey("example.org", "https://example.org/a?id=1", "https://example.org/a", "0a" * 16)
PAGE = Page(url="http://t.example/1", response_url="https://example.org/a?id=1", html="<p>text")
SEEN = Seen.of("raw-html/0/1", 0, PAGE.url or "", PAGE.response_url or "", KEY.canonical)


def decide_with(seen: dict[str, bytes], **changed: object) -> Onward | Duplicate:
    """Decide about PAGE with origin raw-html/0/2; `changed` replaces arguments of `decide`."""
    given = {"page": PAGE, "keys": [KEY], "origin": "raw-html/0/2", "horizon": Horizon()}
    return decide(**(given | changed), look_up=lambda key: seen.get(key.id))  # type: ignore[arg-type]


def test_an_unseen_page_is_new() -> None:
    """A page without a stored `seen` record is new: it gets its current key and a new record."""
    assert decide_with({}) == Onward(KEY, replace(SEEN, origin="raw-html/0/2"), Arrival.NEW)


def test_the_same_origin_again_is_a_replay() -> None:
    """A replay keeps its stored `seen` record, even if the page would now get another time."""
    stored = replace(SEEN, origin="raw-html/0/2", time=7)
    assert decide_with({KEY.id: stored.encode()}) == Onward(KEY, stored, Arrival.REPLAY)


@pytest.mark.parametrize(
    ("page", "canonical", "step"),
    [
        (PAGE, "", Step.REQUEST_URL),
        (replace(PAGE, url="http://t.example/2"), "", Step.RESPONSE_URL),
        (Page(url="https://EXAMPLE.org/a?id=1", html=""), KEY.canonical, Step.CANONICAL),
        (Page(url="https://example.org/a?id=1&x=2", html=""), "other", Step.RULE),
    ],
)
def test_a_duplicate_counts_under_the_first_step_that_reveals_it(
    page: Page, canonical: str, step: Step
) -> None:
    """URLs are compared in this order: request URL, response URL, canonical form, rule."""
    key = replace(KEY, canonical=canonical)
    duplicate = decide_with({KEY.id: SEEN.encode()}, page=page, keys=[key])
    assert duplicate == Duplicate(key, "raw-html/0/1", step)


def test_an_undated_page_has_the_newest_time_of_its_domain() -> None:
    """A page without a date gets the newest document time of its site, not the time of a clock."""
    onward = decide_with({}, horizon=Horizon([3, 9, 4]))
    assert isinstance(onward, Onward)
    assert onward.seen.time == 9


def test_what_was_seen_before_the_horizon_is_unseen() -> None:
    """A page whose `seen` record is older than the horizon is new, and gets a new record."""
    horizon = Horizon([HORIZON + DAY] * 5)
    onward = decide_with({KEY.id: SEEN.encode()}, horizon=horizon)
    again = replace(SEEN, origin="raw-html/0/2", time=HORIZON + DAY)
    assert onward == Onward(KEY, again, Arrival.NEW)


def test_a_duplicate_is_found_under_the_scheme_before() -> None:
    """After a change of the key scheme, a duplicate is also found under its former key."""
    new = replace(KEY, id="0b" * 16)
    duplicate = decide_with({KEY.id: SEEN.encode()}, keys=[new, KEY])
    assert duplicate == Duplicate(KEY, "raw-html/0/1", Step.REQUEST_URL)


def test_a_replay_keeps_the_key_of_the_scheme_before() -> None:
    """After a change of the key scheme, a replay keeps its former key and document id."""
    new = replace(KEY, id="0b" * 16)
    stored = {KEY.id: SEEN.encode()}
    assert decide_with(stored, keys=[new, KEY], origin="raw-html/0/1") == Onward(
        KEY, SEEN, Arrival.REPLAY
    )


def test_a_former_scheme_that_gave_another_domain_is_not_asked() -> None:
    """A former key of another domain is not looked up, because records are stored by domain."""
    new = replace(KEY, domain="a.example.org", id="0b" * 16)
    onward = decide_with({KEY.id: SEEN.encode()}, keys=[new, KEY])
    assert isinstance(onward, Onward)
    assert onward.arrival is Arrival.NEW
