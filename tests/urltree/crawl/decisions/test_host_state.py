"""The next request to a host waits for the host's pause, and longer after failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import zstandard

from urltree.crawl.decisions.host.host_state import (
    DAY,
    HOUR,
    MINUTE,
    HostState,
    HostStateError,
    Politeness,
    RobotsText,
    SchemeRest,
    retry_at,
    retry_refused_at,
    update_after_response,
    update_after_robots,
    update_after_tdmrep,
)
from urltree.crawl.decisions.response import Response, Trouble, WebError

NOW = 1_000_000.0
RULES = Politeness(pause=1.0, pause_max=60.0, latency_factor=2.0)
HOST = HostState(host="news.example")
TIMEOUT = WebError(Trouble.TIMEOUT, "no headers in 20 s")


def answer(status: int, seconds: float = 0.1) -> Response:
    """Return a response without a body."""
    return Response("https://news.example/", status, {}, b"", seconds)


def failed(times: int, came: Response | WebError = TIMEOUT) -> HostState:
    """Return the state of a host after `times` failures in a row, one second apart."""
    host = HOST
    for number in range(times):
        host = update_after_response(host, came, NOW + number, RULES)
    return host


@pytest.mark.parametrize(
    ("latency", "crawl_delay", "pause"),
    [(0.1, None, 1.0), (4.0, None, 8.0), (100.0, None, 60.0), (0.1, 10.0, 10.0), (1, 9e9, 60.0)],
)
def test_a_host_rests_as_long_as_its_slowest_wish(
    latency: float, crawl_delay: float | None, pause: float
) -> None:
    """The pause is the longest of the setting, a multiple of the latency, and Crawl-delay.

    It never exceeds the maximum.
    """
    host = update_after_response(HOST, answer(200, latency), NOW, RULES, crawl_delay=crawl_delay)
    assert host.next_request_at == NOW + pause
    assert host.latency == latency


def test_a_host_that_did_not_answer_in_time_rests_as_after_a_slow_answer() -> None:
    """A host pauses after a time-out as after a slow response: it may still be busy."""
    assert update_after_response(HOST, TIMEOUT, NOW, RULES, took=20.0).next_request_at == NOW + 40.0


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_for_rest_gets_it_at_once(status: int) -> None:
    """The wait after a 429 or 503 is a minute, and doubles at each further one, up to six hours.

    Jitter lengthens each wait by at most a quarter.
    """
    waits = [failed(n, answer(status)).backoff_until - (NOW + n - 1) for n in range(1, 20)]
    assert MINUTE <= waits[0] <= 1.25 * MINUTE
    assert 2 * MINUTE <= waits[1] <= 2.5 * MINUTE
    assert waits[-1] == 6 * HOUR


def test_retry_after_is_obeyed_up_to_a_bound() -> None:
    """The host waits exactly as long as Retry-After says, but at most seven days."""
    asked = update_after_response(HOST, answer(503), NOW, RULES, retry_after=7.0)
    assert asked.next_request_at == NOW + 7.0
    assert (
        update_after_response(HOST, answer(503), NOW, RULES, retry_after=365 * DAY).next_request_at
        == NOW + 7 * DAY
    )


@pytest.mark.parametrize("came", [TIMEOUT, answer(500)])
def test_trouble_is_the_hosts_when_it_is_the_third_in_a_row(came: Response | WebError) -> None:
    """Pages of a host wait only after three failures in a row, because two may be chance."""
    assert failed(2, came).backoff_until == 0.0
    assert failed(3, came).backoff_until >= NOW + MINUTE


def test_trouble_that_is_final_is_not_the_hosts() -> None:
    """An error of one page, such as a page that is too large, is not a failure of its host."""
    large = WebError(Trouble.TOO_LARGE, "more than 10 MiB")
    assert failed(5, large).errors == 0


def test_an_answer_ends_all_trouble() -> None:
    """Any response ends a host's failures, even a 404, because it shows that the host works."""
    host = update_after_response(failed(5), answer(404), NOW + HOUR, RULES)
    assert (host.errors, host.failing_since, host.trouble, host.backoff_until) == (0, None, None, 0)


def test_a_host_without_robots_txt_is_left_alone_for_longer() -> None:
    """If robots.txt fails, pages wait five minutes, doubled at each failure up to a day."""
    host = update_after_robots(HOST, "https", "status 503", NOW)
    assert NOW + 5 * MINUTE <= host.no_robots_until <= NOW + 6.25 * MINUTE
    assert host.trouble == "robots.txt: status 503"
    for _ in range(12):
        host = update_after_robots(host, "https", "status 503", NOW)
    assert host.no_robots_until == NOW + DAY
    assert host.ready_at("https") <= NOW


def test_robots_txt_holds_for_its_scheme_until_it_expires() -> None:
    """A stored robots.txt applies until it expires, and only to its scheme, http or https."""
    host = update_after_robots(HOST, "https", RobotsText(200, NOW + DAY, "User-agent: *"), NOW)
    assert host.robots_at("https", NOW) is not None
    assert host.robots_at("http", NOW) is None
    assert host.robots_at("https", NOW + DAY) is None


def test_a_host_is_given_up_when_it_has_failed_for_long() -> None:
    """A host that has failed for more than six hours is given up until its wait is over.

    Then it is requested again, so that it can recover.
    """
    host = update_after_response(failed(9), TIMEOUT, NOW + 7 * HOUR, RULES)
    assert host.is_given_up(NOW + 7 * HOUR)
    assert not host.is_given_up(host.backoff_until)
    assert not failed(9).is_given_up(NOW + HOUR)


def test_a_page_is_tried_less_and_less_often() -> None:
    """The waits before a page's further attempts are 1, 4, 16, 64 and 256 minutes.

    Jitter lengthens each wait by at most a quarter, and is always the same for one page.
    """
    waits = [retry_at("https://a.example/", n, NOW) - NOW for n in range(1, 6)]
    for wait, minutes in zip(waits, (1, 4, 16, 64, 256), strict=True):
        assert minutes * MINUTE <= wait <= 1.25 * minutes * MINUTE
    assert retry_at("https://a.example/", 1, NOW) != retry_at("https://b.example/", 1, NOW)


def test_a_row_gives_back_what_was_stored() -> None:
    """Encoding and decoding a host's state keeps every field."""
    robots = {"https": RobotsText(200, NOW + DAY, "User-agent: *\nDisallow: /a\n")}
    host = HostState(
        host="news.example:8080",
        next_at=NOW,
        backoff_until=NOW + 1,
        errors=3,
        failing_since=NOW - 9,
        trouble="timeout",
        latency=0.25,
        robots=robots,
    )
    assert HostState.decode(host.encode()) == host


def test_rows_of_this_version_are_read_for_ever() -> None:
    """All later releases with the same row version can decode a row that this release stored."""
    row = bytes.fromhex(
        "0128b52ffd207f2d0300b2c6151890a76db65263b2fcbbffad11055a6066822bd31a89eb3f964982"
        "d857ef593e20c5becc632cf74ba6a17644aa9611a84a75e905605fbccc58d853b51a26a525a03b2f"
        "0511b0f7993e505f8e6928dc81c4ddde6b074702030040c8c632ebcd05130a"
    )
    assert HostState.decode(row) == HostState(host="a.example", next_at=5.0, errors=1)


@pytest.mark.parametrize("row", [b"", b"\x02", b"\x01{}", HOST.encode()[:-3]])
def test_a_row_that_cannot_be_read_is_our_fault(row: bytes) -> None:
    """A row that cannot be decoded raises HostStateError, which ends the worker."""
    with pytest.raises(HostStateError):
        HostState.decode(row)


def test_a_row_of_which_nothing_holds_any_more_is_forgotten() -> None:
    """A host's row is deleted 30 days after its last request, unless its robots.txt is valid."""
    host = update_after_response(HOST, answer(200), NOW, RULES)
    assert not host.is_forgotten(NOW + 29 * DAY)
    assert host.is_forgotten(NOW + 31 * DAY)
    assert not update_after_robots(host, "https", RobotsText(404, NOW + 9 * DAY), NOW).is_forgotten(
        NOW + 31 * DAY
    )


def refused(*pages: str | None, status: int = 403, **more: Any) -> HostState:
    """Return the state of a host that answers requests for pages with a status."""
    host = HOST
    for number, page in enumerate(pages):
        host = update_after_response(host, answer(status), NOW + number, RULES, page=page, **more)
    return host


def test_the_third_refused_page_rests_the_host() -> None:
    """The third 403 in a row from different pages rests the host as a 429 does, then for longer."""
    assert refused("a", "b").next_request_at == NOW + 2
    rested = refused("a", "b", "c")
    assert rested.is_refusing
    assert MINUTE <= rested.backoff_until - (NOW + 2) <= 1.25 * MINUTE
    again = refused("a", "b", "c", "c")
    assert 2 * MINUTE <= again.backoff_until - (NOW + 3) <= 2.5 * MINUTE


def test_a_page_that_is_refused_again_counts_once() -> None:
    """One page that is forbidden for ever does not rest its host."""
    assert refused("a", "a", "b", "a", "b", "a").backoff_until == 0.0


@pytest.mark.parametrize(("status", "page"), [(404, "a"), (403, None), (401, "a"), (410, "a")])
def test_other_answers_rest_no_host(status: int, page: str | None) -> None:
    """A missing page rests no host, and a feed that is forbidden says nothing about the pages."""
    pages = [page and f"{page}{number}" for number in range(9)]
    assert refused(*pages, status=status).backoff_until == 0.0


def test_a_403_that_is_a_wall_rests_the_host_at_once() -> None:
    """A wall with status 403 rests the host at its first answer, for the time of Retry-After."""
    assert MINUTE <= refused("a", is_wall=True).backoff_until - NOW <= 1.25 * MINUTE
    assert refused("a", is_wall=True, retry_after=DAY).backoff_until == NOW + DAY
    assert refused("a", is_wall=True, status=200).backoff_until == 0.0


@pytest.mark.parametrize(
    ("between", "rests"),
    [
        (answer(200), False),
        (answer(404), False),
        (answer(304), False),
        (Response("https://news.example/", 301, {"location": "/x"}, b"", 0.1), True),
        (TIMEOUT, True),
        (answer(500), True),
    ],
)
def test_a_page_ends_the_row_of_refusals(between: Response | WebError, rests: bool) -> None:
    """A row of refusals ends with any other answer to a page; redirects and failures are none."""
    host = update_after_response(refused("a", "b"), between, NOW + 2, RULES, page="x")
    host = update_after_response(host, answer(403), NOW + 3, RULES, page="c")
    assert (host.backoff_until > NOW) is rests


def test_an_answer_to_a_feed_leaves_the_row_of_refusals() -> None:
    """A host that serves its feeds and refuses its pages rests."""
    host = update_after_response(refused("a", "b"), answer(200), NOW + 2, RULES)
    host = update_after_response(host, answer(403), NOW + 3, RULES, page="c")
    assert host.backoff_until > NOW


def test_pages_of_a_host_that_refuses_wait_for_a_day() -> None:
    """A host that refuses is given up after a day, so that each page gets its four attempts."""
    host = replace(refused("a", "b", "c", "d"), backoff_until=NOW + 3 * DAY)
    assert not host.is_given_up(NOW + 23 * HOUR)
    assert host.is_given_up(NOW + 25 * HOUR)


def test_a_single_long_retry_after_gives_up_no_page() -> None:
    """Pages wait for a host that asked for a long rest; it has not failed for hours."""
    host = update_after_response(HOST, answer(429), NOW, RULES, retry_after=3 * DAY)
    assert not host.is_given_up(NOW + 2 * DAY)


def tls_failures(times: int, scheme: str = "https") -> HostState:
    """Return the state of a host after requests that failed because of its certificate."""
    host = HOST
    for number in range(times):
        error = WebError(Trouble.TLS, "certificate has expired")
        host = update_after_response(host, error, NOW + number, RULES, scheme=scheme)
    return host


def test_a_bad_certificate_rests_its_scheme_alone() -> None:
    """The third TLS failure in a row rests https, and pages with http are requested."""
    assert tls_failures(2).ready_at("https") == NOW + 2
    host = tls_failures(3)
    assert MINUTE <= host.ready_at("https") - (NOW + 2) <= 1.25 * MINUTE
    assert host.ready_at("http") == host.next_request_at == NOW + 3
    assert 2 * MINUTE <= tls_failures(4).ready_at("https") - (NOW + 3) <= 2.5 * MINUTE
    assert tls_failures(40).ready_at("https") <= NOW + 39 + 6 * HOUR


def test_a_scheme_that_answers_is_ready() -> None:
    """A response ends the back-off of its own scheme only."""
    host = tls_failures(5)
    other = update_after_response(host, answer(200), NOW + 9, RULES, scheme="http")
    assert other.ready_at("https") == host.ready_at("https")
    good = update_after_response(host, answer(200), NOW + 9, RULES, scheme="https")
    assert good.resting == {}


def test_pages_of_a_scheme_that_failed_for_hours_are_given_up() -> None:
    """Pages of the scheme with the bad certificate are given up, those of the other wait."""
    rest = SchemeRest(NOW + 8 * HOUR, 9, NOW)
    host = replace(HOST, resting={"https": rest})
    assert host.is_given_up(NOW + 7 * HOUR, "https")
    assert not host.is_given_up(NOW + 7 * HOUR, "http")
    assert not host.is_given_up(NOW + 5 * HOUR, "https")


def test_new_fields_are_stored() -> None:
    """A row has the new fields only if they are set, so that older releases can read the others."""
    host = replace(
        tls_failures(3),
        refused=(1, 2**48 - 1),
        tdmrep={"https": RobotsText(200, NOW, "[]")},
    )
    assert HostState.decode(host.encode()) == host
    plain = zstandard.decompress(HOST.encode()[1:])
    assert not any(name in plain for name in (b"refused", b"resting", b"tdmrep"))


def test_times_of_a_wrong_clock_mean_none() -> None:
    """Times that are later than now and the longest wait of their rule are not read."""
    late = HostState(
        host="news.example",
        next_at=NOW + 30 * DAY,
        backoff_until=NOW + 30 * DAY,
        errors=3,
        failing_since=NOW + 30 * DAY,
        robots={"https": RobotsText(200, NOW + 31 * DAY)},
        tdmrep={"https": RobotsText(200, NOW + 31 * DAY)},
        resting={"https": SchemeRest(NOW + 30 * DAY, 3, NOW + 30 * DAY)},
    )
    assert HostState.decode(late.encode(), NOW) == HOST
    assert HostState.decode(late.encode()) == late


def test_times_within_their_rules_are_read() -> None:
    """Times that the rules allow are kept."""
    host = update_after_response(HOST, answer(429), NOW, RULES, retry_after=7 * DAY)
    host = replace(host, robots={"https": RobotsText(200, NOW + DAY)})
    host = replace(host, resting=tls_failures(9).resting)
    assert HostState.decode(host.encode(), NOW + 9) == host


def test_the_tdmrep_of_a_scheme_expires() -> None:
    """A tdmrep.json is used until it expires; each scheme has its own."""
    host = update_after_tdmrep(HOST, "https", RobotsText(404, NOW + DAY))
    assert host.tdmrep_at("https", NOW) == RobotsText(404, NOW + DAY)
    assert host.tdmrep_at("http", NOW) is None
    assert host.tdmrep_at("https", NOW + DAY) is None


def test_a_new_page_is_asked_for_again_after_404_and_403() -> None:
    """A page is requested again after 5 minutes, 1 and 6 hours; then the answer is final."""
    for status in (403, 404):
        waits = [
            retry_refused_at("u", status, n, NOW, is_first_poll=False, now=NOW) for n in range(4)
        ]
        for wait, least in zip(waits, (5 * MINUTE, HOUR, 6 * HOUR), strict=False):
            assert wait is not None
            assert least <= wait - NOW <= 1.25 * least
        assert waits[3] is None


@pytest.mark.parametrize(
    ("status", "named_at", "is_first_poll"),
    [
        (410, NOW, False),
        (401, NOW, False),
        (404, None, False),
        (404, NOW, True),
        (404, NOW - DAY, False),
        (404, NOW + 30 * DAY, False),
    ],
)
def test_other_pages_are_refused_at_once(
    status: int, named_at: float | None, is_first_poll: bool
) -> None:
    """The answer is final for other statuses, and for pages that are not or may not be new."""
    assert retry_refused_at("u", status, 0, named_at, is_first_poll, NOW) is None
