"""All hosts of a domain together get few requests at once and in a second."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.host.shared_limits import SharedLimits


def test_only_so_many_requests_run_at_once() -> None:
    """The request above the limit waits until another one ends; other domains do not wait."""
    limits = SharedLimits(at_once=2, per_second=100)
    for _ in range(2):
        assert limits.may_begin("a.example", 5.0) == 5.0
        limits.begin("a.example", 5.0)
    assert limits.may_begin("a.example", 5.0) == math.inf
    assert limits.may_begin("b.example", 5.0) == 5.0
    limits.end("a.example", 6.0)
    assert limits.may_begin("a.example", 6.0) == 6.0


def test_only_so_many_requests_begin_in_a_second() -> None:
    """After three requests within a second, the fourth begins a second after the first."""
    limits = SharedLimits(at_once=9, per_second=3)
    for at in (1.0, 1.1, 1.2):
        assert limits.may_begin("a.example", at) == at
        limits.begin("a.example", at)
        limits.end("a.example", at)
    assert limits.may_begin("a.example", 1.3) == 2.0
    limits.begin("a.example", 2.0)
    assert limits.may_begin("a.example", 2.0) == pytest.approx(2.1)


def test_requests_that_waited_for_another_limit_do_not_exceed_the_rate() -> None:
    """A request counts when it begins, and not when it was counted first."""
    limits = SharedLimits(at_once=9, per_second=3)
    for _ in range(2):
        limits.begin("a.example", 1.0)  # they wait for another limit until 5.0
    for at in (4.8, 4.9):
        limits.begin("a.example", at)
    assert limits.begin_later("a.example", 1.0, 5.0) == 5.0
    assert limits.begin_later("a.example", 1.0, 5.0) == pytest.approx(5.8)
    assert limits.may_begin("a.example", 5.0) == pytest.approx(5.8)
    assert limits.begin_later("a.example", 1.0, 5.8) == 5.8


@pytest.mark.parametrize(("per_second", "pause"), [(0.5, 2.0), (2.5, 0.8)])
def test_a_rate_may_be_a_fraction(per_second: float, pause: float) -> None:
    """A rate below one a second is a pause, and no rate is exceeded."""
    limits = SharedLimits(at_once=9, per_second=per_second)
    begun = 0
    while limits.may_begin("a.example", 0.0) == 0.0:
        limits.begin("a.example", 0.0)
        begun += 1
    assert begun == max(1, int(per_second))
    assert limits.may_begin("a.example", 0.0) == pytest.approx(pause)


def test_memory_is_bounded() -> None:
    """Domains without running or recent requests are forgotten."""
    limits = SharedLimits(at_once=4, per_second=10)
    limits.begin("running.example", 0.0)
    for n in range(50_000):
        at = n / 100  # 100 domains a second
        limits.begin(f"{n}.example", at)
        limits.end(f"{n}.example", at)
        assert len(limits) < 3_000
    assert len(limits) > 1
    limits.begin("running.example", 500.0)
    limits.begin("running.example", 500.0)
    limits.begin("running.example", 500.0)
    assert limits.may_begin("running.example", 600.0) == math.inf


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 0.5), st.booleans()), max_size=80))
def test_the_limits_hold_for_any_sequence(steps: list[tuple[str, float, bool]]) -> None:
    """No sequence of beginnings and ends exceeds a limit, as counted by lists of all times."""
    limits, now = SharedLimits(at_once=3, per_second=4), 0.0
    began: defaultdict[str, list[float]] = defaultdict(list)
    running: defaultdict[str, int] = defaultdict(int)
    for domain, wait, begins in steps:
        now += wait
        if begins:
            at = limits.may_begin(domain, now)
            assert (at == math.inf) is (running[domain] == 3)
            recent = sorted(time for time in began[domain] if time + 1 > now)
            if at < math.inf:
                assert at == (now if len(recent) < 4 else recent[-4] + 1)
            if at == now:
                limits.begin(domain, now)
                began[domain].append(now)
                running[domain] += 1
        elif running[domain]:
            limits.end(domain, now)
            running[domain] -= 1
