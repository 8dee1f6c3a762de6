"""A response to a page request becomes a page, a final error, or an error to try again later."""

from __future__ import annotations

from typing import Any

import pytest

from urltree.crawl.decisions.host.page_response import (
    StatusError,
    TryLaterError,
    WallError,
    check_response,
    error_for_trouble,
    format_rfc3339,
    make_page,
    wants_body,
)
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.page import MAX_META_BYTES, Page, PageError, Reason

URL = "https://news.example/a"
HTML = {"content-type": "text/html; charset=latin-1"}
NOW = 1_700_000_000.25


def answer(status: int = 200, body: bytes = b"<p>text", url: str = URL, **headers: str) -> Response:
    """Return a response; in the names of headers, underscores become hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(url, status, HTML | named, body, 0.1)


def told(**fields: Any) -> Page:
    """Return a page before its request: it has only a URL and the given fields."""
    return Page(**{"url": URL, "html": b""} | fields)


def test_a_page_has_what_its_feed_and_its_answer_say() -> None:
    """A page contains the fields from its feed and from its response, and the unchanged bytes."""
    found = make_page(
        answer(body=b"<p>caf\xe9"), told(title="T", feed="F", meta={"a": "b"}), NOW, 1_000
    )
    assert found == Page(
        url=URL,
        html=b"<p>caf\xe9",
        content_type="text/html; charset=latin-1",
        status=200,
        title="T",
        feed="F",
        fetched_at="2023-11-14T22:13:20.250000Z",
        meta={"a": "b"},
    )


def test_redirects_are_what_lies_between() -> None:
    """A page's `redirects` contain neither the requested URL nor the URL of the response."""
    chain = ("https://news.example/b", "https://news.example/c")
    found = make_page(answer(url=chain[-1]), told(redirects=chain), NOW, 1_000)
    assert (found.url, found.redirects, found.response_url) == (URL, chain[:1], chain[1])


def test_links_and_headers_are_noted() -> None:
    """`meta` contains the head links and those response headers that describe the page."""
    body = b'<link rel="canonical" href="/c"><link rel="amphtml" href="/m"><body><p>text'
    found = make_page(answer(body=body, etag='W/"1"', server="x"), told(), NOW, 1_000)
    assert found.meta == {
        "link.canonical": "https://news.example/c",
        "link.amp": "https://news.example/m",
        "http.etag": 'W/"1"',
    }


def test_the_users_own_strings_come_back_untouched() -> None:
    """Our metadata never replaces the user's, and none is added beyond MAX_META_BYTES."""
    mine = {"http.etag": "mine", "big": "x" * (MAX_META_BYTES - 40)}
    found = make_page(answer(etag="theirs", last_modified="y" * 100), told(meta=mine), NOW, 1_000)
    assert found.meta == mine


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
def test_some_answers_are_asked_again(status: int) -> None:
    """A status after which the same request may succeed later raises TryLaterError."""
    with pytest.raises(TryLaterError) as caught:
        check_response(answer(status))
    assert caught.value.message == f"status {status}"


@pytest.mark.parametrize("status", [304, 300, 400, 401, 403, 404, 410, 451])
def test_other_errors_are_final(status: int) -> None:
    """A status that will not change raises PageError with the reason `http-status`."""
    with pytest.raises(StatusError) as caught:
        check_response(answer(status))
    assert (caught.value.reason, caught.value.status) == (Reason.HTTP_STATUS, status)


@pytest.mark.parametrize("status", [200, 203, 301, 308])
def test_pages_and_redirects_pass(status: int) -> None:
    """Pages and redirects raise no error; the caller follows the redirects."""
    check_response(answer(status, location="/b"))


def test_a_wall_is_final_and_named() -> None:
    """A response from an anti-bot wall raises a final error with the wall's name.

    Its status 503 alone would cause a retry.
    """
    with pytest.raises(WallError) as caught:
        check_response(answer(503, cf_mitigated="challenge"))
    assert (caught.value.wall, caught.value.reason) == ("cloudflare", Reason.WALL)


def test_a_paywall_stub_is_a_wall() -> None:
    """A page whose paid part is missing raises a final error with the name of the wall."""
    said = b'<script type="application/ld+json">{"isAccessibleForFree": false}</script>'
    with pytest.raises(WallError) as caught:
        check_response(answer(body=said + b"<p>Read on with a subscription."))
    assert (caught.value.wall, caught.value.reason) == ("paywall-stub", Reason.WALL)
    assert caught.value.message.startswith("the response is the wall 'paywall-stub'")


@pytest.mark.parametrize(
    ("status", "content_type", "wanted"),
    [
        (200, "text/html", True),
        (200, "", True),
        (200, "application/xhtml+xml", True),
        (200, "application/pdf", False),
        (200, "text/plain", False),
        (307, "text/html", True),
        (403, "text/html", True),
        (503, "image/png", False),
    ],
)
def test_a_body_is_read_where_it_may_matter(status: int, content_type: str, wanted: bool) -> None:
    """A body is read if the response may be a page, or an error from an anti-bot wall."""
    assert wants_body(status, {"content-type": content_type}) is wanted
    assert not wants_body(302, {"content-type": content_type, "location": "/b"})


def test_another_type_is_not_html_though_its_body_was_not_read() -> None:
    """The reason is `not-html`, and not `empty`, if the body of another media type was not read."""
    with pytest.raises(PageError) as caught:
        make_page(answer(body=b"", content_type="application/pdf"), told(), NOW, 1_000)
    assert caught.value.reason is Reason.NOT_HTML


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Trouble.DNS, None),
        (Trouble.CONNECT, None),
        (Trouble.TLS, None),
        (Trouble.TIMEOUT, None),
        (Trouble.TRUNCATED, None),
        (Trouble.REFUSED_ADDRESS, Reason.REFUSED_ADDRESS),
        (Trouble.REDIRECT, Reason.REDIRECT),
        (Trouble.TOO_LARGE, Reason.TOO_LARGE),
        (Trouble.HEADERS_TOO_LARGE, Reason.TOO_LARGE),
    ],
)
def test_trouble_is_final_or_is_asked_again(trouble: Trouble, reason: Reason | None) -> None:
    """A request error is final and has a reason, or it causes another attempt later."""
    meant = error_for_trouble(WebError(trouble, "why"))
    assert meant.message == f"{trouble}: why"
    assert isinstance(meant, TryLaterError) if reason is None else meant.reason is reason


def test_a_time_has_microseconds_and_is_utc() -> None:
    """A time is formatted in UTC with six decimals, even at a whole second."""
    assert format_rfc3339(0.0) == "1970-01-01T00:00:00.000000Z"
