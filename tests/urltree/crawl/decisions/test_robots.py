"""robots.txt is obeyed as RFC 9309 requires."""

from __future__ import annotations

import pytest

from urltree.crawl.decisions.host.host_state import RobotsText
from urltree.crawl.decisions.host.robots import MAX_BYTES, Robots, interpret_robots, robots_url
from urltree.crawl.decisions.response import Response, Trouble, WebError

UNTIL = 86_400.0


def answer(status: int, body: bytes = b"") -> Response:
    """Return a response to a request for robots.txt."""
    return Response("https://news.example/robots.txt", status, {}, body, 0.1)


def rules(*lines: str) -> Robots:
    """Return the rules of a robots.txt with these lines."""
    return Robots(RobotsText(200, UNTIL, "\n".join(lines)))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_without_a_robots_txt_everything_is_allowed(status: int) -> None:
    """A status 4xx except 429 means that there are no rules: all URLs are allowed (2.3.1.3)."""
    found = interpret_robots(answer(status, b"User-agent: *\nDisallow: /"), UNTIL)
    assert isinstance(found, RobotsText)
    assert Robots(found).allows("https://news.example/a")


@pytest.mark.parametrize(
    "came", [answer(429), answer(500), answer(503), WebError(Trouble.TIMEOUT, "none in 20 s")]
)
def test_nothing_is_allowed_while_it_cannot_be_read(came: Response | WebError) -> None:
    """After a 5xx, a 429 or no response, there is an error, and no URL is allowed (2.3.1.4)."""
    found = interpret_robots(came, UNTIL)
    assert isinstance(found, str)
    assert found.startswith(("status ", "timeout: "))


def test_redirects_that_lead_nowhere_are_no_rules() -> None:
    """After more than five redirects there are no rules: all URLs are allowed (2.3.1.2)."""
    found = interpret_robots(WebError(Trouble.REDIRECT, "more than 5"), UNTIL)
    assert isinstance(found, RobotsText)
    assert Robots(found).allows("https://news.example/a")


def test_our_own_group_counts_before_that_of_all() -> None:
    """The group of our own user agent applies instead of the group `*`.

    The case of its name and its position in the file do not matter.
    """
    robots = rules("User-agent: *", "Disallow: /", "", "User-agent: URLtree", "Disallow: /private")
    assert robots.allows("https://news.example/a")
    assert not robots.allows("https://news.example/private/a")


@pytest.mark.parametrize(
    "line",
    [
        *("User-agent: urltree/0.1", "user-agent:URLtree/2.0 (+https://example.org)"),
        *("User-agent: urltree 0.1", "Useragent: urltree/0.1", "User-agent: urltree/0.1 # ours"),
        *("User agent urltree/0.1", "User-Agent: urltree*", "User-agent: urltree;q=1"),
    ],
)
def test_a_version_after_our_product_token_is_ignored(line: str) -> None:
    """A User-agent line names us by our product token, whatever follows it (2.2.1)."""
    robots = rules("User-agent: *", "Disallow: /", "", line, "Disallow: /private")
    assert robots.allows("https://news.example/a")
    assert not robots.allows("https://news.example/private/a")


@pytest.mark.parametrize(
    "name",
    ["urltreebot", "urltree-news/1.0", "url", "u", "tree", "not-urltree", "Mozilla/5.0 urltree"],
)
def test_another_product_token_is_another_crawler(name: str) -> None:
    """A group does not apply to us if its product token only contains ours, or a part of it."""
    robots = rules(f"User-agent: {name}", "Disallow: /", "", "User-agent: *", "Disallow: /private")
    assert robots.allows("https://news.example/a")
    assert not robots.allows("https://news.example/private/a")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_group_of_several_crawlers_stays_one_group(line_end: str) -> None:
    """Several User-agent lines share their rules, with every kind of line end."""
    lines = ("User-agent: other/1.0", "User-agent: urltree/0.1", "Disallow: /a", "Crawl-delay: 3")
    robots = Robots(RobotsText(200, UNTIL, line_end.join(lines)))
    assert not robots.allows("https://news.example/a")
    assert robots.crawl_delay == 3


def test_the_longest_rule_wins_and_wildcards_are_understood() -> None:
    """The longest matching rule applies, and a rule may contain the wildcards `*` and `$`.

    See RFC 9309, sections 2.2.2 and 2.2.3.
    """
    robots = rules(
        "User-agent: *", "Disallow: /*?print=1$", "Disallow: /a", "Allow: /a/b", "Disallow: /ä"
    )
    assert not robots.allows("https://news.example/story?print=1")
    assert robots.allows("https://news.example/story?print=12")
    assert robots.allows("https://news.example/a/b/c")
    assert not robots.allows("https://news.example/a/c")
    assert not robots.allows("https://news.example/%C3%A4")


def test_a_crawl_delay_is_read() -> None:
    """Crawl-delay is a number of seconds, or None if it is missing or not a number."""
    assert rules("User-agent: *", "Crawl-delay: 2.5").crawl_delay == 2.5
    assert rules("User-agent: *", "Crawl-delay: soon").crawl_delay is None
    assert rules("User-agent: *", "Disallow: /a").crawl_delay is None


def test_its_first_500_kib_are_read() -> None:
    """Only the complete lines within the first 500 KiB are read.

    A rule that is cut off would forbid more URLs than the complete one.
    """
    body = b"User-agent: *\nDisallow: /a\n" + b"#" * (MAX_BYTES - 38) + b"\nDisallow: /b/c/d\n"
    found = interpret_robots(answer(200, body), UNTIL)
    assert isinstance(found, RobotsText)
    assert len(found.body) <= MAX_BYTES
    assert not Robots(found).allows("https://news.example/a")
    assert Robots(found).allows("https://news.example/b")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_robots_txt_that_was_cut_counts_without_its_last_line(line_end: str) -> None:
    """If the download was cut, its last line is dropped, because it may be incomplete."""
    text = line_end.join(("User-agent: *", "Disallow: /a", "Disallow: /b"))
    cut = Response("https://news.example/robots.txt", 200, {}, text.encode(), 0.1, is_cut=True)
    found = interpret_robots(cut, UNTIL)
    assert isinstance(found, RobotsText)
    assert not Robots(found).allows("https://news.example/a")
    assert Robots(found).allows("https://news.example/b/c/d")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_is_read(encoding: str) -> None:
    """A robots.txt that an editor on Windows has saved as Unicode is read."""
    body = "\ufeffUser-agent: *\r\nDisallow: /a\r\nDisallow: /ä\r\n".encode(encoding)
    found = interpret_robots(answer(200, body), UNTIL)
    assert isinstance(found, RobotsText)
    assert not Robots(found).allows("https://news.example/a")
    assert not Robots(found).allows("https://news.example/%C3%A4")
    assert Robots(found).allows("https://news.example/b")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_long_utf_16_text_is_cut_at_a_line(encoding: str) -> None:
    """The limit of 500 KiB also ends at a complete line if each character has two bytes."""
    text = (
        "\ufeffUser-agent: *\nDisallow: /a\n" + "#" * (MAX_BYTES // 2 - 40) + "\nDisallow: /b/c/d\n"
    )
    found = interpret_robots(answer(200, text.encode(encoding)), UNTIL)
    assert isinstance(found, RobotsText)
    assert not Robots(found).allows("https://news.example/a")
    assert Robots(found).allows("https://news.example/b")


@pytest.mark.parametrize("body", [b"\xef\xbb\xbfUser-agent: *\nDisallow: /a", b"\xff\xfe\0", b""])
def test_any_bytes_are_read(body: bytes) -> None:
    """A robots.txt may be empty, begin with a byte order mark, or contain invalid bytes."""
    found = interpret_robots(answer(200, body), UNTIL)
    assert isinstance(found, RobotsText)
    assert Robots(found).allows("https://news.example/b")
    assert Robots(found).allows("https://news.example/a") is not (b"Disallow" in body)


@pytest.mark.parametrize(
    ("url", "robots"),
    [
        ("https://news.example/a?b#c", "https://news.example/robots.txt"),
        ("http://user:password@news.example:8080", "http://news.example:8080/robots.txt"),
        ("https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443/robots.txt"),
    ],
)
def test_each_scheme_host_and_port_has_its_own(url: str, robots: str) -> None:
    """Each scheme, host and port has its own robots.txt, whose URL contains no password.

    See RFC 9309, section 2.3.
    """
    assert robots_url(url) == robots
