"""A schedule returns each key once when it is due, the longest due key first."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.poll.schedule import FeedKey, Schedule

A, B, C = (0, b"a"), (0, b"b"), (1, b"a")


def test_what_is_due_comes_out_longest_due_first_and_once() -> None:
    """`pop` returns the due keys once, the longest due key first; the other keys stay."""
    schedule = Schedule()
    for key, due in ((A, 30.0), (B, 10.0), (C, 40.0)):
        schedule.put(key, due)
    assert schedule.pop(30.0) == [B, A]
    assert schedule.pop(30.0) == []
    assert (len(schedule), schedule.next_due()) == (1, 40.0)


def test_a_key_that_is_put_again_is_due_when_it_was_put_last() -> None:
    """If a key is put again, only its new time applies, whether it is earlier or later."""
    schedule = Schedule()
    schedule.put(A, 30.0)
    schedule.put(A, 10.0)
    assert schedule.next_due() == 10.0
    schedule.put(A, 50.0)
    assert schedule.pop(49.0) == []
    assert schedule.pop(50.0) == [A]
    assert schedule.next_due() is None


def test_what_is_never_due_is_not_kept() -> None:
    """A key that is put with an infinite time is removed, as for a feed that is gone."""
    schedule = Schedule()
    schedule.put(A, 1.0)
    schedule.put(A, math.inf)
    assert (len(schedule), schedule.pop(math.inf)) == (0, [])


def test_moving_one_key_for_ever_takes_no_memory() -> None:
    """Many changes of one key take no memory, because the heap is rebuilt without stale entries."""
    schedule = Schedule()
    for due in range(10_000):
        schedule.put(A, float(due))
    assert len(schedule) == 1
    assert len(schedule._heap) < 100
    assert schedule.pop(1e9) == [A]


_KEYS = st.sampled_from([A, B, C, (1, b"b"), (2, b"")])
_TIMES = st.integers(0, 8).map(float)
_STEPS = st.one_of(
    st.tuples(st.just("put"), _KEYS, _TIMES),
    st.tuples(st.just("remove"), _KEYS),
    st.tuples(st.just("pop"), _TIMES),
    st.tuples(st.just("clear")),
)


@given(st.lists(_STEPS, max_size=300))
def test_a_schedule_does_what_a_dict_does(steps: list[tuple[object, ...]]) -> None:
    """For any sequence of operations, a schedule gives the same results as a dict."""
    schedule = Schedule()
    model: dict[FeedKey, float] = {}
    for name, *arguments in steps:
        out = getattr(schedule, str(name))(*arguments)
        match name, arguments:
            case "put", [key, due]:
                model[key] = due
            case "remove", [key]:
                model.pop(key, None)
            case "pop", [now]:
                due_keys = sorted((due, key) for key, due in model.items() if due <= now)
                assert out == [key for _, key in due_keys]
                model = {key: due for key, due in model.items() if due > now}
            case _:
                model.clear()
        assert len(schedule) == len(model)
        assert schedule.next_due() == min(model.values(), default=None)
