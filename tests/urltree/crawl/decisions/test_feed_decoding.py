"""One invalid byte costs one character of a feed, and a wrong declaration of UTF-8 does no harm."""

from __future__ import annotations

from io import BytesIO

import feedparser
import pytest

from tests.urltree.crawl.decisions.feeds import json, parsed, rss

TITLES = {
    "Arabic": "أخبار اليوم من المدينة",
    "Chinese": "城市今日新聞",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "French": "Des élèves réinventent la forêt à Besançon",
    "German": "Füße waschen, Äpfel schälen, Öl prüfen",
    "Greek": "Τα νέα της πόλης σήμερα",  # noqa: RUF001 - Greek
    "Hebrew": "חדשות היום מן העיר",
    "Hindi": "आज शहर की खबरें",
    "Japanese": "今日の町のニュース",
    "Korean": "오늘의 도시 소식",
    "Russian": "Новости города сегодня",
}
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>'


def cut(title: str, declaration: str = "") -> bytes:
    """Return a feed in UTF-8 whose description ends inside a character of several bytes."""
    described = f"<title>{title}</title><link>/1</link><description>{title}"
    body = (declaration + rss(f"{described} é@</description>")).encode()
    return body.replace("é@".encode(), "é".encode()[:1])


@pytest.mark.parametrize(
    ("declaration", "content_type"),
    [
        ("", None),
        (DECLARED, None),
        ("", "text/xml; charset=utf-8"),
        (DECLARED, "text/xml; charset=us-ascii"),
        ("", "text/xml; charset=nonsense"),
        (DECLARED.replace("8", "16"), "text/xml"),
        (DECLARED.replace("UTF-8", "iso-8859-5"), "text/xml; charset=UTF8"),
    ],
)
@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_a_cut_character_costs_that_character_alone(
    title: str, declaration: str, content_type: str | None
) -> None:
    """A cut character becomes U+FFFD; all other characters are read in UTF-8."""
    item = parsed(cut(title, declaration), content_type).items[0]
    assert item.title == title
    assert item.description == f"{title} \ufffd"


@pytest.mark.parametrize("title", TITLES.values(), ids=TITLES)
def test_a_cut_character_costs_no_json_feed(title: str) -> None:
    """A JSON feed with a cut character is read, too: without this the whole feed was refused."""
    body = json({"url": "/1", "title": f"{title} é@"}).replace("é@".encode(), b"\xc3")
    assert parsed(body).items[0].title == f"{title} \ufffd"


@pytest.mark.parametrize(
    ("encoding", "title"),
    [
        ("windows-1252", "Füße waschen, “Äpfel” schälen – Öl prüfen"),  # noqa: RUF001 - as published
        ("windows-1251", "Новости города сегодня"),
        ("shift_jis", "今日の町のニュース"),
    ],
)
@pytest.mark.parametrize("content_type", [None, "text/xml; charset=utf-8"])
def test_a_feed_that_only_claims_to_be_utf_8_is_guessed(
    encoding: str, title: str, content_type: str | None
) -> None:
    """If nearly no character is valid UTF-8, feedparser guesses the encoding, as it always did."""
    body = (DECLARED + rss(f"<title>{title}</title><link>/1</link>" * 9)).encode(encoding)
    guessed = feedparser.parse(BytesIO(body)).entries[0].title
    assert parsed(body, content_type).items[0].title == guessed


def test_a_declared_encoding_is_used() -> None:
    """A feed in another encoding is decoded as it declares, in its header or in itself."""
    title = TITLES["Russian"]
    declared = DECLARED.replace("UTF-8", "windows-1251")
    body = rss(f"<title>{title}</title><link>/1</link>").encode("windows-1251")
    assert parsed(body, "text/xml; charset=windows-1251").items[0].title == title
    assert parsed(declared.encode() + body, "text/xml; charset=utf-8").items[0].title == title


def test_as_many_invalid_bytes_as_characters_are_no_utf_8() -> None:
    """A feed is UTF-8 only if its valid characters of several bytes outnumber its invalid bytes."""
    body = rss("<title>é ü@@</title><link>/1</link>").encode()
    assert parsed(body.replace(b"@@", b"\xe9")).items[0].title == "é ü\ufffd"
    assert parsed(body.replace(b"@@", b"\xe9\xe9")).items[0].title != "é ü\ufffd\ufffd"
