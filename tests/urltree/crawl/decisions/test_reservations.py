"""Reservations of publishers are found in headers, in the page, and in tdmrep.json."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.page.reservations import (
    MAX_TDMREP,
    Signal,
    TdmRule,
    find_reservation,
    is_tdm_reserved,
    parse_tdmrep,
    tdmrep_url,
)

URL = "https://news.example/a/b?c=1"
ALL = frozenset(Signal)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("noindex", "noindex"),
        ("NOAI, noimageai", "noai"),
        ("none", "noindex"),
        ("urltree: noarchive", "noarchive"),
        ("googlebot: nofollow, otherbot: nofollow, urltree: noai", "noai"),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noarchive", "noarchive"),
        ("max-snippet:20, noai", "noai"),
        ("all", None),
        ("noimageai, nofollow, nosnippet", None),
        ("googlebot: noindex, noai", None),
    ],
)
def test_the_header_x_robots_tag_is_read(header: str, found: str | None) -> None:
    """Directives for every agent and for ours count; directives for others do not."""
    said = find_reservation(ALL, {"x-robots-tag": header}, b"", URL)
    assert said == (found and f"{found} in the header X-Robots-Tag")


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (b"<meta name=robots content='noindex, follow'>", "noindex in <meta name='robots'>"),
        (b"<meta content='NoAI' name=URLTREE>", "noai in <meta name='urltree'>"),
        (b"<meta name=googlebot content=noindex>", None),
        (b"<!--<meta name=robots content=noindex>-->", None),
        (b"<body><p>write &lt;meta name=robots content=noindex></body>", None),
        (b"<meta name=robots content='max-image-preview:large'>", None),
        (b"<meta name=tdm-reservation content=1>", "tdm in <meta name='tdm-reservation'>"),
        (b"<meta name=tdm-reservation content=0>", None),
    ],
)
def test_the_meta_tags_are_read(page: bytes, found: str | None) -> None:
    """Tags for robots and for this crawler count, and those for other robots do not."""
    assert find_reservation(ALL, {}, page, URL) == found


@pytest.mark.parametrize(
    ("meta", "header", "file", "found"),
    [
        (None, None, True, "tdm in /.well-known/tdmrep.json"),
        (None, "1", False, "tdm in the header TDM-Reservation"),
        (None, "0", True, None),
        ("0", "1", True, None),
        ("1", "0", False, "tdm in <meta name='tdm-reservation'>"),
    ],
)
def test_the_page_decides_before_the_header_and_the_header_before_the_file(
    meta: str | None, header: str | None, file: bool, found: str | None
) -> None:
    """The reservation that is closest to the page decides, also if it allows mining."""
    page = b"" if meta is None else f"<meta name=tdm-reservation content={meta}>".encode()
    headers = {} if header is None else {"tdm-reservation": header}
    rules = [TdmRule("/", is_reserved=file)]
    assert find_reservation(ALL, headers, page, URL, rules) == found


@pytest.mark.parametrize("obeyed", [[], [Signal.NOARCHIVE], [Signal.NOAI]])
def test_a_signal_is_obeyed_only_where_it_is_set(obeyed: list[Signal]) -> None:
    """A page with other reservations than the obeyed ones is not reserved."""
    headers = {"x-robots-tag": "noindex", "tdm-reservation": "1"}
    assert find_reservation(obeyed, headers, b"", URL) is None


@pytest.mark.parametrize(
    ("location", "matches"),
    [
        ("/", True),
        ("/a/", True),
        ("/a/b$", False),
        ("/a/b?c=1$", True),
        ("/a/*c=1", True),
        ("/*/b*c", True),
        ("/*b$", False),
        ("*1$", True),
        ("/A/", False),
        ("/b", False),
        ("/a/%62", True),
        ("*" * 2_000 + "z", False),
    ],
)
def test_locations_are_patterns_as_in_robots_txt(location: str, matches: bool) -> None:
    """A location matches the start of path and query; `*` is any text and `$` the end."""
    assert is_tdm_reserved([TdmRule(location, is_reserved=True)], URL) is matches


def test_the_longest_location_decides() -> None:
    """The longest location that matches decides; of two equal ones, the one that reserves."""
    rules = parse_tdmrep(
        b'[{"location": "/", "tdm-reservation": 1}, {"location": "/a/", "tdm-reservation": 0},'
        b' {"location": "/a/c", "tdm-reservation": 0}, {"location": "/a/c", "tdm-reservation": 1}]'
    )
    assert is_tdm_reserved(rules, "https://news.example/")
    assert not is_tdm_reserved(rules, "https://news.example/a/b")
    assert is_tdm_reserved(rules, "https://news.example/a/c")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>not found",
        b"{}",
        b'[1, null, [], {"location": 1}, {"location": ""}, {"tdm-reservation": 1}]',
        b'[{"location": "/' + b"x" * 3_000 + b'", "tdm-reservation": 1}]',
        b'[{"location": "/", "tdm-reservation": 1}]' + b" " * MAX_TDMREP,
        b"[" * 100_000,
    ],
)
def test_a_file_of_another_form_has_no_rules(body: bytes) -> None:
    """A tdmrep.json that is damaged, too large or something else reserves nothing."""
    assert parse_tdmrep(body) == ()


def test_the_file_has_one_address_for_a_host() -> None:
    """The address of tdmrep.json has scheme, host and port of the page, and no credentials."""
    found = tdmrep_url("http://u:p@news.example:8080/a")
    assert found == "http://news.example:8080/.well-known/tdmrep.json"
