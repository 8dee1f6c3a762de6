"""Metadata: the date, author and description of a page, as its HTML states them."""

from __future__ import annotations

import subprocess
import sys

import htmldate
import pytest

from urltree.document import FoundMetadata
from urltree.enrich.metadata import find_metadata
from urltree.enrich.metadata.finding import MAX_DESCRIPTION, MAX_HTML
from urltree.page import Page

NEWS = "https://example.org/news"


def found(
    head: str = "", body: str = "", url: str = NEWS, fetched_at: str | None = None
) -> FoundMetadata:
    """Return the metadata of a page with this head and body."""
    html = f"<html><head>{head}</head><body><p>Some text.</p>{body}</body></html>"
    return find_metadata(Page(url=url, html=html, fetched_at=fetched_at))


def article(said: str) -> str:
    """Return a script with the JSON-LD of an article that has these fields."""
    return f'<script type="application/ld+json">{{"@type": "NewsArticle", {said}}}</script>'


@pytest.mark.parametrize(
    ("head", "body", "url"),
    [
        pytest.param("", "", "https://example.org/2019/04/07/elm", id="address"),
        pytest.param(
            '<meta property="article:published_time" content="2019-04-07T23:30:00-05:00">',
            "",
            NEWS,
            id="meta, the day as written there",
        ),
        pytest.param(article('"datePublished": "2019-04-07"'), "", NEWS, id="JSON-LD"),
        pytest.param("", '<time datetime="2019-04-07">Sunday</time>', NEWS, id="time"),
        pytest.param("", '<p class="date">7 April 2019</p>', NEWS, id="an element of class date"),
    ],
)
def test_a_date_is_found_in(head: str, body: str, url: str) -> None:
    """The date of a page is found in its URL, in <meta>, in JSON-LD or in a text element."""
    assert found(head, body, url).date == "2019-04-07"


def test_the_first_publication_counts() -> None:
    """The date of first publication counts, not the date of the last change."""
    times = (
        '<meta property="article:modified_time" content="2021-01-01">'
        '<meta property="article:published_time" content="2019-04-07">'
    )
    assert found(times).date == "2019-04-07"


@pytest.mark.parametrize(
    ("fetched_at", "date"),
    [
        pytest.param("2019-04-06T09:59:59Z", None, id="nowhere on Earth is it that day"),
        pytest.param("2019-04-06T10:00:00Z", "2019-04-07", id="the day has begun in Kiribati"),
        pytest.param("9999-12-31T23:59:59-14:00", "2019-04-07", id="the last moment of all"),
        pytest.param(None, "2019-04-07", id="no time is given"),
    ],
)
def test_no_page_is_of_tomorrow(fetched_at: str | None, date: str | None) -> None:
    """A date after the day of the fetch is ignored: the page was already published at that time.

    A day begins first in Kiribati (UTC+14).
    """
    assert found('<meta name="date" content="2019-04-07">', fetched_at=fetched_at).date == date


def test_what_is_found_knows_no_today() -> None:
    """A date without a day becomes the first of its month; dateutil would use today's day."""
    assert found('<meta name="date" content="2016-3">').date == "2016-03-01"


def test_the_machine_s_time_zone_does_not_count() -> None:
    """The time zone of the machine does not change a date, although htmldate uses local time."""
    script = (
        "from urltree.enrich.metadata import find_metadata; from urltree.page import Page;"
        "html = '<meta name=date content=2019-04-07T00:00:00+14:00><p>text';"
        "print(find_metadata(Page(url=None, html=html, fetched_at='2019-04-06T10:00:00Z')).date)"
    )
    dates = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("UTC+12", "UTC-14")
    }
    assert dates == {"2019-04-07\n"}


def test_a_page_that_is_an_address_is_not_fetched() -> None:
    """If the text of a page is a URL, the URL is not fetched, although htmldate would fetch it."""
    address = "http://127.0.0.1:9/"
    with pytest.raises(ValueError, match="URL couldn't be processed"):
        htmldate.find_date(address)
    assert find_metadata(Page(url=NEWS, html=address)) == FoundMetadata()


def test_an_error_of_htmldate_costs_the_date_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """If htmldate raises an error, the other metadata of the page is still found."""

    def stumble(*_: object, **__: object) -> str:
        raise AttributeError

    monkeypatch.setattr(htmldate, "find_date", stumble)
    said = found('<meta name="date" content="2019-04-07"><meta name="author" content="Ash Elm">')
    assert said == FoundMetadata(author="Ash Elm")


@pytest.mark.parametrize("html", ["", " ", b"\0", b"\xff\xfe", "<!-- -->", "\ud800", "<", "<?"])
def test_where_nothing_is_nothing_is_found(html: str | bytes) -> None:
    """A page without content has no metadata and causes no error."""
    assert find_metadata(Page(url=None, html=html)) == FoundMetadata()


def test_bytes_are_decoded_as_their_text_is() -> None:
    """The bytes of a page are decoded as in the tokenizer, with the charset of the HTTP header."""
    html = '<meta name=author content="Zoë">'.encode("utf-16-be")
    page = Page(url=None, html=html, content_type="text/html; charset=utf-16be")
    assert find_metadata(page).author == "Zoë"


def test_only_the_beginning_of_a_huge_page_is_looked_at() -> None:
    """Only the first MAX_HTML characters of a page are read, so that the time is bounded."""
    far = "x" * MAX_HTML
    said = '<meta name="description" content="Trees.">'
    assert found(said, far).description == "Trees."
    assert found(body=far + said).description is None


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('<meta name="Author" content=" Ash \n Elm ">', "Ash Elm"),
        ('<meta property="article:author" content="https://example.org/ash">', None),
        (article('"author": {"@type": "Person", "name": "Ash Elm"}'), "Ash Elm"),
        (article('"author": ["Ash Elm", {"name": "Fir Oak"}, "Ash Elm"]'), "Ash Elm, Fir Oak"),
        ('<meta name="author" content="Ash">' + article('"author": "Fir"'), "Ash"),
    ],
)
def test_authors_are_names(head: str, author: str | None) -> None:
    """Authors come from <meta> or else from JSON-LD; the URL of a profile is no name."""
    assert found(head).author == author


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ('<meta property="og:description" content="B"><meta name="description" content="A">', "A"),
        ('<meta name="description" content=" "><meta property="og:description" content="B">', "B"),
        (article('"description": "C"'), "C"),
        (f'<meta name="description" content="{"x" * 9_999}">', "x" * MAX_DESCRIPTION),
    ],
)
def test_descriptions_are_found(head: str, description: str) -> None:
    """The description of <meta> comes first, then that for social networks, then that of JSON-LD.

    A long description is cut.
    """
    assert found(head).description == description
