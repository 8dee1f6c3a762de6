"""Tests that feeds in a simulated web are followed politely, soon, and with few requests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import median

import pytest

from bench.simulated_feeds import VOLATILE, Hardships, SimulatedFeed
from bench.simulated_web import (
    ADDRESS_AT_ONCE,
    DOMAIN_AT_ONCE,
    DOMAIN_PER_SECOND,
    PAUSE,
    START,
    SimulatedWeb,
    item_page_address,
)
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


HARD = Hardships(volatile_each=5, subdomains=60, own_domains=30)


@cache
def hard_result() -> SimulationResult:
    """Follow a hundred feeds, of which twenty are volatile, and a provider of ninety hosts."""
    return simulate(RULES[OURS], feeds=100, sites=20, days=1.0, hardships=HARD)


def test_a_hard_web_gets_no_impolite_request() -> None:
    """Neither a host nor a domain nor an address gets more than the limits allow."""
    result = hard_result()
    assert result.delays_provider
    assert (result.breaches, result.between, result.above_limits) == (0, 0, 0)


def test_the_page_of_a_volatile_item_is_requested_once() -> None:
    """Items that change at every poll are requested about once."""
    assert hard_result().delays_volatile
    assert 0.9 < hard_result().asked_volatile <= 1.1


@pytest.fixture
def hard_web() -> SimulatedWeb:
    """Return a web with volatile feeds and a provider."""
    return SimulatedWeb(seed=1, feeds=100, sites=20, days=1.0, hardships=HARD)


def ask_hosts(web: SimulatedWeb, hosts: list[str], seconds: float) -> None:
    """Request a page of each host, one after the other, within a time in seconds."""
    of_host = {feed.host: feed for feed in web.feeds.values() if feed.is_of_provider}
    for number, host in enumerate(hosts):
        web.ask(item_page_address(of_host[host], 0), {}, START + seconds * number / len(hosts))


def test_the_observer_sees_too_many_requests_of_a_domain(hard_web: SimulatedWeb) -> None:
    """The observer counts the fifth simultaneous request to hosts of one domain."""
    hosts = [f"blog{n}.provider.example" for n in range(DOMAIN_AT_ONCE + 1)]
    ask_hosts(hard_web, hosts[:-1], 0.01)
    assert hard_web.breaches == {}
    ask_hosts(hard_web, hosts[-1:], 0.01)
    assert hard_web.breaches == {"domain": 1}


def test_the_observer_sees_too_many_requests_of_a_domain_in_a_second(
    hard_web: SimulatedWeb,
) -> None:
    """The observer counts the eleventh request to hosts of one domain within a second."""
    fast = [
        feed.host
        for feed in hard_web.feeds.values()
        if feed.host.endswith(".provider.example")
        and latency(hard_web.ask(item_page_address(feed, 0), {}, START - 1_000)[0]) < 0.3
    ][: DOMAIN_PER_SECOND + 1]
    hard_web.breaches.clear()
    ask_hosts(hard_web, fast, 0.99)
    assert hard_web.breaches == {"domain": 1}


def test_the_observer_sees_too_many_requests_of_an_address(hard_web: SimulatedWeb) -> None:
    """The observer counts the ninth simultaneous request to hosts at one address."""
    hosts = [f"www.blog{n}.example" for n in range(ADDRESS_AT_ONCE + 1)]
    ask_hosts(hard_web, hosts, 0.01)
    assert hard_web.breaches == {"address": 1}


def test_a_web_without_its_hard_feeds_has_the_same_other_feeds(hard_web: SimulatedWeb) -> None:
    """The web for comparison has the steady feeds of the hard web, and no others."""
    others = replace(HARD, are_left_out=True)
    web = SimulatedWeb(seed=1, feeds=100, sites=20, days=1.0, hardships=others)
    assert len(web.feeds) == 80
    assert list(web.feeds.values()) == [f for f in hard_web.feeds.values() if f.is_steady]


@pytest.mark.parametrize("kind", VOLATILE)
def test_a_volatile_feed_changes_at_every_poll(kind: str, hard_web: SimulatedWeb) -> None:
    """Every item of a volatile feed differs from the same item of the response before."""
    feed = next(
        feed
        for feed in hard_web.feeds.values()
        if feed.volatile == kind and hard_web.is_healthy(feed)
    )
    lists = []
    for seconds in (0, 1):
        came, _ = hard_web.ask(feed.url, {}, START + seconds)
        assert isinstance(came, Response)
        lists.append(hard_web.contents(came.body).items)
    assert len(lists[0]) == len(lists[1])
    assert not set(lists[0]) & set(lists[1])


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
    """The observer counts a page that is requested during the request for another page."""
    _, ends = web.ask(item_page_address(feed, 0), {}, START)
    web.ask(item_page_address(feed, 1), {}, ends - 0.01)
    assert web.breaches == {"pages": 1, "between": 1}


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
    """The observer counts a feed that is requested during the request for a page of its host."""
    _, ends = web.ask(item_page_address(feed, 0), {}, START)
    web.ask(feed.url, {}, ends - 0.01)
    assert web.breaches == {"feeds": 1, "between": 1}
