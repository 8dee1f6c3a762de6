"""Each host yields one token at a time and pauses after it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from urltree.crawl.decisions.host.host_queues import HostQueues

PAUSE = 1.0


def queues(*tokens: tuple[str, int]) -> HostQueues[int]:
    """Return queues to which tokens were added at time 0."""
    made: HostQueues[int] = HostQueues()
    for host, token in tokens:
        made.add(host, token, 0.0)
    return made


def test_each_host_gives_one_token_at_a_time() -> None:
    """The second token of a host waits, however often `take` is called."""
    made = queues(("a", 1), ("a", 2), ("b", 3))
    assert made.take(0.0) == [("a", 1), ("b", 3)]
    assert made.take(100.0) == []
    assert (len(made), made.waiting("a"), made.is_busy("b")) == (1, 1, True)


def test_a_host_that_is_done_has_its_turn_after_its_pause() -> None:
    """It is not ready earlier, and `next_at` returns the time."""
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    assert made.next_at() is None
    made.done("a", 5.0)
    assert made.next_at() == 5.0
    assert made.take(4.9) == []
    assert made.take(5.0) == [("a", 2)]


def test_a_pause_holds_for_tokens_that_come_later() -> None:
    """The pause also applies when the queue was empty meanwhile."""
    made = queues(("a", 1))
    made.take(0.0)
    made.done("a", 5.0)
    made.add("a", 2, 1.0)
    assert made.take(4.0) == []
    assert made.take(5.0) == [("a", 2)]


def test_a_host_that_rests_gives_nothing_and_others_do() -> None:
    """The longer of two pauses counts."""
    made = queues(("a", 1), ("b", 2))
    made.pause_until("a", 60.0)
    made.pause_until("a", 30.0)
    assert made.take(59.0) == [("b", 2)]
    assert made.take(60.0) == [("a", 1)]


def test_a_busy_host_may_be_told_to_rest() -> None:
    """Its next token waits for the later of the two times."""
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    made.pause_until("a", 60.0)
    made.done("a", 1.0)
    assert made.next_at() == 60.0


def test_no_more_are_taken_than_there_is_room_for() -> None:
    """The other tokens stay, in their order."""
    made = queues(("a", 1), ("b", 2), ("c", 3))
    assert made.take(0.0, at_most=2) == [("a", 1), ("b", 2)]
    assert made.take(0.0, at_most=2) == [("c", 3)]


def test_what_is_ahead_is_counted() -> None:
    """A token waits for its host's pause, for the token in progress, and for those before it."""
    made = queues(("a", 1), ("a", 2), ("a", 3))
    made.pause_until("b", 30.0)
    made.take(0.0)
    assert made.expected("a", 0.0, PAUSE) == 3 * PAUSE
    assert made.expected("b", 10.0, PAUSE) == 30.0
    assert made.expected("c", 10.0, PAUSE) == 10.0


def test_tokens_can_be_withdrawn() -> None:
    """They are returned in order, and `take` returns none of them later."""
    made = queues(("a", 1), ("a", 2), ("b", 3))
    assert made.withdraw("a") == [1, 2]
    assert made.take(0.0) == [("b", 3)]
    made.add("a", 4, 1.0)
    assert made.take(1.0) == [("a", 4)]


def test_a_token_that_was_put_back_is_the_next() -> None:
    """It still waits for the pause, because another request was made instead."""
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    made.put_back("a", 1)
    made.done("a", 1.0)
    assert made.take(1.0) == [("a", 1)]


def test_nothing_is_left_after_clear() -> None:
    """Neither tokens nor pauses are left."""
    made = queues(("a", 1), ("b", 2))
    made.pause_until("a", 60.0)
    made.take(0.0)
    made.clear()
    assert (len(made), made.next_at(), list(made)) == (0, None, [])
    made.add("a", 3, 1.0)
    assert made.take(1.0) == [("a", 3)]


def test_rests_of_hosts_seen_once_do_not_pile_up() -> None:
    """In a crawl of a million hosts only the current pauses are kept."""
    made: HostQueues[int] = HostQueues()
    for number in range(10_000):
        made.add(f"host{number}", number, float(number))
        made.take(float(number))
        made.done(f"host{number}", number + 1.0)
    assert len(made._pauses) < 3_000


HOSTS = st.sampled_from("abc")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), HOSTS, st.just(0.0)),
        st.tuples(st.just("take"), st.just(""), st.just(0.0)),
        st.tuples(st.just("done"), HOSTS, st.floats(0, 5)),
        st.tuples(st.just("rest"), HOSTS, st.floats(0, 5)),
        st.tuples(st.just("wait"), st.just(""), st.floats(0, 5)),
    ),
    max_size=60,
)


@given(steps=STEPS)
def test_it_does_what_plain_lists_do(steps: list[tuple[str, str, float]]) -> None:
    """For any operations, the result equals that of a search through all hosts."""
    made: HostQueues[int] = HostQueues()
    queued: dict[str, list[int]] = {host: [] for host in "abc"}
    rests = dict.fromkeys("abc", 0.0)
    busy: set[str] = set()
    now = 0.0
    for number, (step, host, seconds) in enumerate(steps):
        if step == "wait":
            now += seconds
        elif step == "add":
            made.add(host, number, now)
            queued[host].append(number)
        elif step == "rest":
            made.pause_until(host, now + seconds)
            rests[host] = max(rests[host], now + seconds)
        elif step == "done" and host in busy:
            made.done(host, now + seconds)
            busy.discard(host)
            rests[host] = max(rests[host], now + seconds)
        elif step == "take":
            free = [h for h in "abc" if queued[h] and h not in busy and rests[h] <= now]
            assert sorted(made.take(now)) == [(h, queued[h].pop(0)) for h in free]
            busy.update(free)
        assert len(made) == sum(map(len, queued.values()))


def test_a_host_is_overdue_once_its_turn_has_come_until_it_is_taken() -> None:
    """It is counted once; not during its pause, and not during a request."""
    made = queues(("a", 1), ("a", 2), ("b", 3), ("c", 4))
    made.pause_until("c", 60.0)
    assert (made.overdue(0.0), made.overdue(60.0)) == (2, 3)
    made.take(0.0, at_most=1)
    assert made.overdue(0.0) == 1
    made.done("a", 5.0)
    assert (made.overdue(4.9), made.overdue(5.0)) == (1, 2)
    made.withdraw("b")
    assert made.overdue(60.0) == 2
