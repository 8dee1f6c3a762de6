"""What becomes of a page: new, replay or duplicate, and under which key."""

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
    """Decide about PAGE at raw-html/0/2, unless `changed` says otherwise."""
    given = {"page": PAGE, "keys": [KEY], "origin": "raw-html/0/2", "horizon": Horizon()}
    return decide(**(given | changed), look_up=lambda key: seen.get(key.id))  # type: ignore[arg-type]


def test_an_unseen_page_is_new() -> None:
    """It goes on under the current key, with what is to be put in `seen`."""
    assert decide_with({}) == Onward(KEY, replace(SEEN, origin="raw-html/0/2"), Arrival.NEW)


def test_the_same_origin_again_is_a_replay() -> None:
    """What is stored is put again as it is, whatever the page's time says now."""
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
    """Request URL, then response URL, then canonical form, then rule."""
    key = replace(KEY, canonical=canonical)
    duplicate = decide_with({KEY.id: SEEN.encode()}, page=page, keys=[key])
    assert duplicate == Duplicate(key, "raw-html/0/1", step)


def test_an_undated_page_has_the_newest_time_of_its_domain() -> None:
    """No clock is asked."""
    onward = decide_with({}, horizon=Horizon([3, 9, 4]))
    assert isinstance(onward, Onward)
    assert onward.seen.time == 9


def test_what_was_seen_before_the_horizon_is_unseen() -> None:
    """The page is new again, and its `seen` replaces the old one."""
    horizon = Horizon([HORIZON + DAY] * 5)
    onward = decide_with({KEY.id: SEEN.encode()}, horizon=horizon)
    again = replace(SEEN, origin="raw-html/0/2", time=HORIZON + DAY)
    assert onward == Onward(KEY, again, Arrival.NEW)


def test_a_duplicate_is_found_under_the_scheme_before() -> None:
    """During a switch `seen` is read under both keys."""
    new = replace(KEY, id="0b" * 16)
    duplicate = decide_with({KEY.id: SEEN.encode()}, keys=[new, KEY])
    assert duplicate == Duplicate(KEY, "raw-html/0/1", Step.REQUEST_URL)


def test_a_replay_keeps_the_key_of_the_scheme_before() -> None:
    """It stays the same document after the switch."""
    new = replace(KEY, id="0b" * 16)
    stored = {KEY.id: SEEN.encode()}
    assert decide_with(stored, keys=[new, KEY], origin="raw-html/0/1") == Onward(
        KEY, SEEN, Arrival.REPLAY
    )


def test_a_former_scheme_that_gave_another_domain_is_not_asked() -> None:
    """Its `seen` lies in another domain's table."""
    new = replace(KEY, domain="a.example.org", id="0b" * 16)
    onward = decide_with({KEY.id: SEEN.encode()}, keys=[new, KEY])
    assert isinstance(onward, Onward)
    assert onward.arrival is Arrival.NEW
