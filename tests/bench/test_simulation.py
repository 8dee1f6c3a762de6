"""Tests that feeds in a simulated web are followed politely, soon, and with few requests."""

from __future__ import annotations

from functools import cache
from statistics import median

import pytest

from bench.simulated_feeds import SimulatedFeed
from bench.simulated_web import PAUSE, START, SimulatedWeb, item_page_address
from bench.simulation import EVERY_15, EVERY_60, OURS, RULES, SimulationResult, simulate
from urltree.crawl.decisions.response import Response, WebError


@cache
def result(rules: str) -> SimulationResult:
    """Follow a hundred feeds of twenty sites for one day, and return the result."""
    return simulate(RULES[rules], feeds=100, sites=20, days=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_no_host_gets_an_impolite_request(rules: str) -> None:
    """No host gets an impolite request, as the observer in the simulated web confirms."""
    assert result(rules).breaches == 0


def test_no_item_is_missed_that_a_poll_each_quarter_would_have_found() -> None:
    """Our rules miss no more items than a poll every quarter of an hour.

    All missed items belong to bursts that replace a list of ten items within this time.
    """
    assert result(OURS).delays
    assert result(OURS).missed <= result(EVERY_15).missed < result(EVERY_60).missed


def test_ours_is_sooner_than_each_hour_at_fewer_requests_than_each_quarter() -> None:
    """Our delay is less than half of that of hourly polls.

    Our polls are less than half as many as those every quarter of an hour. The measured values are
    a third and a quarter.
    """
    assert median(result(OURS).delays) < median(result(EVERY_60).delays) / 2
    assert result(OURS).polls < result(EVERY_15).polls / 2


def test_a_simulation_gives_the_same_each_time() -> None:
    """A simulation with the same seed gives the same result; another seed gives another one."""
    again = simulate(RULES[OURS], feeds=100, sites=20, days=1.0)
    assert again == result(OURS)
    assert simulate(RULES[OURS], feeds=100, sites=20, days=1.0, seed=5) != again


@pytest.fixture
def web() -> SimulatedWeb:
    """Return a simulated web with twenty feeds of five sites."""
    return SimulatedWeb(seed=1, feeds=20, sites=5, days=1.0)


@pytest.fixture
def feed(web: SimulatedWeb) -> SimulatedFeed:
    """Return a feed whose pages are on its own host."""
    return next(feed for feed in web.feeds.values() if feed.host == feed.link_host)


def latency(came: Response | WebError) -> float:
    """Return the latency of a response in seconds."""
    assert isinstance(came, Response)
    return came.seconds


def test_the_observer_sees_two_requests_at_once(web: SimulatedWeb, feed: SimulatedFeed) -> None:
    """The observer counts two requests of one stage that are sent to a host at once."""
    _, ends = web.ask(item_page_address(feed, 0), {}, START)
    web.ask(item_page_address(feed, 1), {}, ends - 0.01)
    assert web.breaches == {"pages": 1}


def test_the_observer_sees_a_pause_that_is_too_short(
    web: SimulatedWeb, feed: SimulatedFeed
) -> None:
    """The observer counts a pause that is shorter than a second or than twice the latency."""
    came, ends = web.ask(feed.url, {}, START)
    pause = max(PAUSE, 2 * latency(came))
    came, later = web.ask(feed.url, {}, ends + pause)
    assert web.breaches == {}
    web.ask(feed.url, {}, later + max(PAUSE, 2 * latency(came)) - 0.01)
    assert web.breaches == {"feeds": 1}


def test_the_observer_sees_a_poll_during_a_fetch(web: SimulatedWeb, feed: SimulatedFeed) -> None:
    """The observer counts a poll during a fetch from the same host, as "between".

    Two stages of the job share the host, and each is polite by itself.
    """
    _, ends = web.ask(item_page_address(feed, 0), {}, START)
    web.ask(feed.url, {}, ends - 0.01)
    assert web.breaches == {"between": 1}
