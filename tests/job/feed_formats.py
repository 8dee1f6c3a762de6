"""Write feeds as RSS, Atom and JSON Feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime

import orjson


@dataclass(frozen=True, slots=True)
class Story:
    """An item of a feed.

    Attributes:
        number: index of the story among all stories, from 0.
        link: URL of the story's page, as in the feeds.
        title: title of the story.
        published: publication time in UTC, in whole seconds.
    """

    number: int
    link: str
    title: str
    published: datetime


def rss(url: str, stories: Sequence[Story]) -> str:
    """Return a feed in RSS 2.0."""
    items = "".join(
        f"<item><title>{story.title}</title><link>{story.link}</link>"
        f"<pubDate>{format_datetime(story.published)}</pubDate></item>"
        for story in stories
    )
    return (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>{url}</title>'
        f"<link>{url}</link><description>All news</description>{items}</channel></rss>"
    )


def atom(url: str, stories: Sequence[Story]) -> str:
    """Return a feed in Atom 1.0 (RFC 4287)."""
    entries = "".join(
        f'<entry><title>{story.title}</title><link href="{story.link}"/><id>{story.link}</id>'
        f"<published>{story.published.isoformat()}</published>"
        f"<updated>{story.published.isoformat()}</updated></entry>"
        for story in stories
    )
    return (
        f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>{url}</title>'
        f"<id>{url}</id>{entries}</feed>"
    )


def json(url: str, stories: Sequence[Story]) -> str:
    """Return a feed in JSON Feed 1.1."""
    items = [
        {
            "id": story.link,
            "url": story.link,
            "title": story.title,
            "date_published": story.published.isoformat(),
        }
        for story in stories
    ]
    fields = {"version": "https://jsonfeed.org/version/1.1", "title": url, "items": items}
    return orjson.dumps(fields).decode()


# The function that writes a feed, and its content type, by the last segment of the feed's URL.
FORMATS: Mapping[str, tuple[Callable[[str, Sequence[Story]], str], str]] = {
    "all.rss": (rss, "application/rss+xml; charset=utf-8"),
    "all.atom": (atom, "application/atom+xml; charset=utf-8"),
    "all.json": (json, "application/feed+json"),
}
