"""URL normalisation: one spelling for each address, by RFC 3986 and the WHATWG URL standard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from urltree.address.url import MAX_URL, normalise
from urltree.address.url_key import KeyScheme
from urltree.page import PageError, Reason

STREAMS = Path(__file__).parents[4] / "shared" / "data" / "streams"

HARD_CASES = {
    # RFC 3986, 6.2.2.1 and 3.2.2: only the path is case-sensitive, not scheme and host
    "HTTP://EXAMPLE.com/Path": "http://example.com/Path",
    # 6.2.3: an empty path becomes `/`, the default port is dropped
    "http://example.com": "http://example.com/",
    "http://example.com:80/": "http://example.com/",
    "https://example.com:443/": "https://example.com/",
    "https://example.com:/": "https://example.com/",
    "http://example.com:8080/": "http://example.com:8080/",
    # 6.2.2.2: escapes of unreserved characters are decoded, others only change their case
    "http://example.com/%7Ejoe/%41": "http://example.com/~joe/A",
    "http://example.com/a%2fb": "http://example.com/a%2Fb",
    "http://example.com/%5Bx%5D": "http://example.com/%5Bx%5D",
    "http://example.com/%21%24%26%2B%3B%3D": "http://example.com/%21%24%26%2B%3B%3D",
    "http://example.com/a!$&'()*+,;=:@b": "http://example.com/a!$&'()*+,;=:@b",
    # escapes are decoded only once, even if the result looks like an escape
    "http://example.com/%252F": "http://example.com/%252F",
    "http://example.com/%%34%31": "http://example.com/%2541",
    "http://example.com/100%": "http://example.com/100%25",
    # 3.3: characters that are not allowed in a path are escaped as UTF-8
    "http://example.com/caf\u00e9": "http://example.com/caf%C3%A9",
    "http://example.com/a b|c[d]": "http://example.com/a%20b%7Cc%5Bd%5D",
    "http://example.com/%ff": "http://example.com/%FF",
    # 5.2.4: dot segments are resolved, escaped ones too; empty segments stay
    "http://example.com/a/./b/../../c": "http://example.com/c",
    "http://example.com/a/%2E%2e/b": "http://example.com/b",
    "http://example.com/../../a": "http://example.com/a",
    "http://example.com/a/.b/../c": "http://example.com/a/c",
    "http://example.com/a/.b/c/..": "http://example.com/a/.b/",
    "http://example.com/a/.b/./../../../": "http://example.com/",
    "http://example.com/a//b": "http://example.com/a//b",
    # WHATWG: backslashes become slashes; tabs, line ends and outer spaces are dropped
    "http:\\\\example.com\\a": "http://example.com/a",
    "  http://exam\nple.com/\ta ": "http://example.com/a",
    "http:example.com/a": "http://example.com/a",
    # international domain names: UTS 46, non-transitional
    "http://m\u00fcnchen.de/": "http://xn--mnchen-3ya.de/",
    "http://fa\u00df.de/": "http://xn--fa-hia.de/",
    "http://\uff45xample\u3002com/": "http://example.com/",
    # each IP address has one spelling
    "http://0x7f.1/": "http://127.0.0.1/",
    "http://2130706433/": "http://127.0.0.1/",
    "http://[0:0::0:1]:8080/": "http://[::1]:8080/",
    # user, final dot, fragment and empty query are dropped; a `#!` fragment names a page
    "http://joe:secret@example.com/": "http://example.com/",
    "http://example.com./": "http://example.com/",
    "http://example.com/#top": "http://example.com/",
    "http://example.com/#!/story/1": "http://example.com/#!/story/1",
    "http://example.com/?": "http://example.com/",
    # the query: application/x-www-form-urlencoded, sorted by name; values of one name keep order
    "http://example.com/?b=2&a=1": "http://example.com/?a=1&b=2",
    "http://example.com/?a=2&b=0&a=1": "http://example.com/?a=2&a=1&b=0",
    "http://example.com/?q=a%20b": "http://example.com/?q=a+b",
    "http://example.com/?q=a%2Bb": "http://example.com/?q=a%2Bb",
    "http://example.com/?q=a%26b%3dc": "http://example.com/?q=a%26b%3Dc",
    "http://example.com/?q=%E4": "http://example.com/?q=%E4",
    "http://example.com/?q=\u00e4": "http://example.com/?q=%C3%A4",
    "http://example.com/?q=%25%32%35": "http://example.com/?q=%2525",
    "http://example.com/?1234": "http://example.com/?1234",
    "http://example.com/?a=&b=1": "http://example.com/?a&b=1",
    "http://example.com/?&&a=1&": "http://example.com/?a=1",
    "http://example.com/?u=http://x.org/?y": "http://example.com/?u=http%3A%2F%2Fx.org%2F%3Fy",
    # WHATWG replaces a lone surrogate, which is not valid Unicode, by U+FFFD
    "http://example.com/\ud800": "http://example.com/%EF%BF%BD",
}


@pytest.mark.parametrize(("url", "expected"), HARD_CASES.items())
def test_an_address_has_one_spelling(url: str, expected: str) -> None:
    """Each difficult URL gets the spelling that the standards define; a second pass keeps it."""
    assert str(normalise(url)) == expected
    assert str(normalise(expected)) == expected


@pytest.mark.xfail(strict=True, reason="the encoding of the page with the link is unknown")
def test_a_query_is_encoded_as_the_linking_page_is() -> None:
    """WHATWG uses the encoding of the page with the link: in windows-1252, `?q=é` is `?q=%E9`."""
    assert normalise("http://example.com/?q=\u00e9") == normalise("http://example.com/?q=%E9")


@pytest.mark.xfail(strict=True, reason="a server may distinguish composed and decomposed letters")
def test_letters_are_composed() -> None:
    """Composed and decomposed letters would be equal by RFC 3987, 5.3.2.2, which suggests NFC.

    WHATWG sends the letters as they are.
    """
    composed, decomposed = "http://example.com/caf\u00e9", "http://example.com/cafe\u0301"
    assert normalise(composed) == normalise(decomposed)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/a", "http://example.com/a/"),
        ("http://example.com/a", "http://example.com/A"),
        ("http://example.com/a/b", "http://example.com/a%2Fb"),
        ("http://example.com/a?b", "http://example.com/a%3Fb"),
        ("http://example.com/a;b", "http://example.com/a%3Bb"),
        ("http://example.com/?a=1&b=2", "http://example.com/?a=1%26b=2"),
        ("http://example.com/?q=a+b", "http://example.com/?q=a%2Bb"),
        ("http://example.com/", "http://www.example.com/"),
        ("http://example.com/", "http://example.com:8080/"),
    ],
)
def test_different_addresses_stay_different(one: str, other: str) -> None:
    """Addresses that a server may distinguish are never merged."""
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "example.com/a",
        "/a/b",
        "//example.com/a",
        "ftp://example.com/",
        "javascript:void(0)",
        "data:text/html,a",
        "http://",
        "http://./",
        "http://a..b/",
        "http://example.com:99999/",
        "http://exa mple.com/",
        "http://[::1",
        "http://1.2.3.4.5/",
        "http://example.com/" + "a" * MAX_URL,
        "http://example.com/" + "\u00e9" * 2_000,
    ],
)
def test_what_is_no_web_address_is_the_pages_fault(url: str) -> None:
    """A text that is no web address raises PageError with the reason `bad-url`.

    The message is short even if the text is long.
    """
    with pytest.raises(PageError) as caught:
        normalise(url)
    assert caught.value.reason is Reason.BAD_URL
    assert len(caught.value.message) < 400


CHARACTERS = "aZ0-._~!$&'()*+,;=:@/?#%[]|^`{}\\\"<> \u00e9\u00df\u4e2d\ud800"
ESCAPES = "%2 %25 %32 %41 %2e %C3%A9 %ff %zz .. /./ %2F &a= #! www. :80 %00"
pieces = st.sampled_from([*CHARACTERS, *ESCAPES.split()])


@given(st.lists(pieces, max_size=30).map("".join), st.sampled_from(["h.org/", "h.org", ""]))
@example("%%34%31", "h.org/")
@example("1.2.3.4..", "")
def test_normalising_again_changes_nothing(tail: str, host: str) -> None:
    """A normalised URL does not change if it is normalised again."""
    try:
        normal = normalise(f"http://{host}{tail}")
    except PageError as error:
        assert error.reason is Reason.BAD_URL  # noqa: PT017 - either outcome is right
    else:
        assert normalise(str(normal)) == normal


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_bad_url(text: str) -> None:
    """Any text is normalised or raises PageError with the reason `bad-url`."""
    try:
        normal = normalise(text)
    except PageError as error:
        assert error.reason is Reason.BAD_URL  # noqa: PT017 - either outcome is right
    else:
        assert normalise(str(normal)) == normal


def test_normalising_is_idempotent_on_real_addresses() -> None:
    """Normalised URLs of real sites, and their keys, do not change if normalised again."""
    if not STREAMS.is_dir():
        pytest.skip(f"no {STREAMS.name} beside the checkout (../shared/data)")
    scheme = KeyScheme()
    count = 0
    for count, url in enumerate(_stream_urls(), 1):  # noqa: B007 - the count is asserted
        normal, key = normalise(url), scheme.key(url, lambda: None)
        assert normalise(str(normal)) == normal
        assert scheme.key(key.key, lambda: None).id == key.id
    assert count == 11_068


def _stream_urls() -> Iterator[str]:
    for path in sorted(STREAMS.glob("*.jsonl.zst")):
        with zstandard.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield orjson.loads(line)["url"]
