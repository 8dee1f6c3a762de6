"""Each host's queue returns one token (a waiting request) at a time, and then pauses."""

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
    """While a host's first token is in progress, `take` does not return its second token."""
    made = queues(("a", 1), ("a", 2), ("b", 3))
    assert made.take(0.0) == [("a", 1), ("b", 3)]
    assert made.take(100.0) == []
    assert (len(made), made.waiting("a"), made.is_busy("b")) == (1, 1, True)


def test_a_host_that_is_done_has_its_turn_after_its_pause() -> None:
    """After a token is done, the host's next token is ready when the pause is over.

    `next_at` returns this time.
    """
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    assert made.next_at() is None
    made.done("a", 5.0)
    assert made.next_at() == 5.0
    assert made.take(4.9) == []
    assert made.take(5.0) == [("a", 2)]


def test_a_pause_holds_for_tokens_that_come_later() -> None:
    """A host's pause also applies to a token that was added while the host's queue was empty."""
    made = queues(("a", 1))
    made.take(0.0)
    made.done("a", 5.0)
    made.add("a", 2, 1.0)
    assert made.take(4.0) == []
    assert made.take(5.0) == [("a", 2)]


def test_a_host_that_rests_gives_nothing_and_others_do() -> None:
    """A paused host returns no token while other hosts do; the longer of two pauses applies."""
    made = queues(("a", 1), ("b", 2))
    made.pause_until("a", 60.0)
    made.pause_until("a", 30.0)
    assert made.take(59.0) == [("b", 2)]
    assert made.take(60.0) == [("a", 1)]


def test_a_busy_host_may_be_told_to_rest() -> None:
    """If a host is paused while its token is in progress, the pause that ends later applies."""
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    made.pause_until("a", 60.0)
    made.done("a", 1.0)
    assert made.next_at() == 60.0


def test_no_more_are_taken_than_there_is_room_for() -> None:
    """`take` returns at most `at_most` tokens; the other tokens stay in their order."""
    made = queues(("a", 1), ("b", 2), ("c", 3))
    assert made.take(0.0, at_most=2) == [("a", 1), ("b", 2)]
    assert made.take(0.0, at_most=2) == [("c", 3)]


def test_what_is_ahead_is_counted() -> None:
    """A new token waits for the host's pause, the token in progress, and the tokens before it."""
    made = queues(("a", 1), ("a", 2), ("a", 3))
    made.pause_until("b", 30.0)
    made.take(0.0)
    assert made.expected("a", 0.0, PAUSE) == 3 * PAUSE
    assert made.expected("b", 10.0, PAUSE) == 30.0
    assert made.expected("c", 10.0, PAUSE) == 10.0


def test_tokens_can_be_withdrawn() -> None:
    """`withdraw` returns a host's tokens in order, and `take` does not return them later."""
    made = queues(("a", 1), ("a", 2), ("b", 3))
    assert made.withdraw("a") == [1, 2]
    assert made.take(0.0) == [("b", 3)]
    made.add("a", 4, 1.0)
    assert made.take(1.0) == [("a", 4)]


def test_a_token_that_was_put_back_is_the_next() -> None:
    """A token that was put back is the host's next token after the pause.

    The pause applies because another request was sent to the host instead of the token's.
    """
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    made.put_back("a", 1)
    made.done("a", 1.0)
    assert made.take(1.0) == [("a", 1)]


def test_nothing_is_left_after_clear() -> None:
    """`clear` removes all tokens and all pauses."""
    made = queues(("a", 1), ("b", 2))
    made.pause_until("a", 60.0)
    made.take(0.0)
    made.clear()
    assert (len(made), made.next_at(), list(made)) == (0, None, [])
    made.add("a", 3, 1.0)
    assert made.take(1.0) == [("a", 3)]


def test_rests_of_hosts_seen_once_do_not_pile_up() -> None:
    """Pauses that are over are removed, so memory does not grow with the number of hosts."""
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
    """For any operations, `take` returns the same tokens as a search through plain lists."""
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
    """A host whose token could be taken now is overdue; each overdue host is counted once.

    A host is not overdue during its pause or while one of its tokens is in progress.
    """
    made = queues(("a", 1), ("a", 2), ("b", 3), ("c", 4))
    made.pause_until("c", 60.0)
    assert (made.overdue(0.0), made.overdue(60.0)) == (2, 3)
    made.take(0.0, at_most=1)
    assert made.overdue(0.0) == 1
    made.done("a", 5.0)
    assert (made.overdue(4.9), made.overdue(5.0)) == (1, 2)
    made.withdraw("b")
    assert made.overdue(60.0) == 2


def test_small_requests_go_before_pages_in_their_own_order() -> None:
    """Small requests wait for the host's pause like pages, but before all of them.

    A token that was put back is the first one again.
    """
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    for token in (10, 11):
        made.add("a", token, 0.0, is_small=True)
    made.put_back("a", 1)
    made.done("a", PAUSE)
    order: list[int] = []
    while (at := made.next_at()) is not None:
        order += [token for _, token in made.take(at)]
        made.done("a", at + PAUSE)
    assert order == [1, 10, 11, 2]


def test_a_pause_can_be_ended() -> None:
    """`resume` ends the pause of a host earlier; `done` and `pause_until` only extend it."""
    made = queues(("a", 1), ("a", 2))
    made.take(0.0)
    made.done("a", 100.0)
    made.pause_until("a", 50.0)
    assert made.next_at() == 100.0
    made.resume("a", 7.0)
    assert made.next_at() == 7.0
    assert made.take(7.0) == [("a", 2)]


def test_all_tokens_can_be_placed_again_with_short_pauses() -> None:
    """`restart` returns all waiting tokens; hosts in progress stay so, and long pauses end."""
    made = queues(("a", 1), ("a", 2), ("b", 3), ("c", 4))
    made.take(0.0, at_most=1)
    made.pause_until("b", 1_000_000.0)
    assert sorted(made.restart(5.0)) == [2, 3, 4]
    for host, token in (("a", 2), ("b", 3)):
        made.add(host, token, 0.0)
    assert made.take(0.0) == []
    assert made.take(5.0) == [("b", 3)], "a is in progress"
    made.done("a", 7.0)
    assert made.take(7.0) == [("a", 2)]
