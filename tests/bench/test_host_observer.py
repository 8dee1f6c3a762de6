"""The observer in a web server sees each kind of impolite request."""

from __future__ import annotations

import pytest

from bench.host_observer import HostObserver
from urltree.crawl.decisions.host.host_state import Politeness

HOST = "a.example"


@pytest.fixture
def observer() -> HostObserver:
    """Return an observer of hosts that get a pause of a second, or of twice the latency."""
    return HostObserver(Politeness(1.0, 60.0, 2.0))


def counts(observer: HostObserver) -> tuple[int, int, int]:
    """Return the numbers of overlapping, early and resting requests."""
    return observer.overlapping, observer.early, observer.resting


def test_polite_requests_are_not_counted(observer: HostObserver) -> None:
    """A request after the pause is polite, and so is a simultaneous one to another host."""
    observer.begin(HOST, 100.0)
    observer.begin("b.example", 100.1)
    observer.end(HOST, 100.2, 0.2)
    observer.begin(HOST, 101.2)
    assert counts(observer) == (0, 0, 0)
    assert observer.requests == {HOST: 2, "b.example": 1}


def test_an_overlapping_request_is_seen(observer: HostObserver) -> None:
    """A request that begins during another one of its host is overlapping."""
    observer.begin(HOST, 100.0)
    observer.begin(HOST, 100.1)
    assert counts(observer) == (1, 0, 0)
    assert observer.most == 2


@pytest.mark.parametrize(("latency", "pause"), [(0.1, 1.0), (3.0, 6.0)])
def test_a_pause_that_is_too_short_is_seen(
    latency: float, pause: float, observer: HostObserver
) -> None:
    """The pause is a second, or twice the latency if this is longer."""
    observer.begin(HOST, 100.0)
    observer.end(HOST, 100.0 + latency, latency)
    observer.begin(HOST, 100.0 + latency + pause - 0.2)
    assert counts(observer) == (0, 1, 0)
    assert observer.earliest[0] == pytest.approx(0.2)


def test_a_crawl_delay_counts_from_the_response_that_has_it(observer: HostObserver) -> None:
    """The Crawl-delay of robots.txt lengthens the pause after this file, and later pauses."""
    for begins in (100.0, 104.0):
        observer.begin(HOST, begins)
        observer.end(HOST, begins + 0.1, 0.1, crawl_delay=3.0 if begins == 100.0 else None)
    observer.begin(HOST, 106.0)
    assert counts(observer) == (0, 1, 0)


def test_a_request_in_the_time_of_a_429_is_seen(observer: HostObserver) -> None:
    """No request may begin in the time that the header Retry-After names."""
    observer.begin(HOST, 100.0)
    observer.end(HOST, 100.1, 0.1, retry_after=10)
    observer.begin(HOST, 109.0)
    observer.end(HOST, 109.1, 0.1)
    observer.begin(HOST, 110.2)
    assert counts(observer) == (0, 0, 1)
