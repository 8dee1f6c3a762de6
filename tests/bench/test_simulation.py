"""Feeds in a simulated web: read politely, soon, and at few requests (issue 4, row 2)."""

from __future__ import annotations

from functools import cache
from statistics import median

import pytest

from bench.simulated_feeds import SimulatedFeed
from bench.simulated_web import PAUSE, START, Web, page
from bench.simulation import EVERY_15, EVERY_60, OURS, RULES, Result, simulate
from urltree.crawl.decisions.answer import Answer, WebError


@cache
def result(rules: str) -> Result:
    """Of a hundred feeds of twenty sites in a day."""
    return simulate(RULES[rules], feeds=100, sites=20, days=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_no_host_is_ever_asked_impolitely(rules: str) -> None:
    """By the web's own observer, for polls and for pages."""
    assert result(rules).breaches == 0


def test_no_item_is_missed_that_a_poll_each_quarter_would_have_found() -> None:
    """What is left are bursts that replace a list of ten within a quarter of an hour."""
    assert result(OURS).delays
    assert result(OURS).missed <= result(EVERY_15).missed < result(EVERY_60).missed


def test_ours_is_sooner_than_each_hour_at_fewer_requests_than_each_quarter() -> None:
    """Half the delay of the one, half the polls of the other; measured: a third, and a quarter."""
    assert median(result(OURS).delays) < median(result(EVERY_60).delays) / 2
    assert result(OURS).polls < result(EVERY_15).polls / 2


def test_a_simulation_says_the_same_each_time() -> None:
    """There is no chance in it but the seed's."""
    again = simulate(RULES[OURS], feeds=100, sites=20, days=1.0)
    assert again == result(OURS)
    assert simulate(RULES[OURS], feeds=100, sites=20, days=1.0, seed=5) != again


@pytest.fixture
def web() -> Web:
    """Twenty feeds of five sites."""
    return Web(seed=1, feeds=20, sites=5, days=1.0)


@pytest.fixture
def feed(web: Web) -> SimulatedFeed:
    """A feed whose pages lie on its own host."""
    return next(feed for feed in web.feeds.values() if feed.host == feed.link_host)


def latency(came: Answer | WebError) -> float:
    """Seconds of an answer."""
    assert isinstance(came, Answer)
    return came.seconds


def test_the_observer_sees_two_requests_at_once(web: Web, feed: SimulatedFeed) -> None:
    """Of one kind of reader to one host."""
    _, ends = web.ask(page(feed, 0), {}, START)
    web.ask(page(feed, 1), {}, ends - 0.01)
    assert web.breaches == {"pages": 1}


def test_the_observer_sees_a_pause_that_is_too_short(web: Web, feed: SimulatedFeed) -> None:
    """A second, or twice the latency."""
    came, ends = web.ask(feed.url, {}, START)
    pause = max(PAUSE, 2 * latency(came))
    came, later = web.ask(feed.url, {}, ends + pause)
    assert web.breaches == {}
    web.ask(feed.url, {}, later + max(PAUSE, 2 * latency(came)) - 0.01)
    assert web.breaches == {"feeds": 1}


def test_the_observer_tells_a_poll_beside_a_fetch(web: Web, feed: SimulatedFeed) -> None:
    """Two stages of the job read a host, each politely by itself."""
    _, ends = web.ask(page(feed, 0), {}, START)
    web.ask(feed.url, {}, ends - 0.01)
    assert web.breaches == {"between": 1}
