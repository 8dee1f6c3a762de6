"""The items of a feed, and the feed formats for which `templates/feeds` has templates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SampleItem:
    """An item of a feed: an address and its description.

    Attributes:
        id: id that is unique among all items; an article that is listed twice has two ids.
        published: publication time; items are listed in this order.
    """

    id: str
    url: str
    title: str
    summary: str
    published: datetime


@dataclass(frozen=True, slots=True)
class FeedFormat:
    """The format of a site's feed, and its address.

    Attributes:
        template: file name in `templates/feeds`.
        path: path and query of the address.
        media_type: media type of the header Content-Type, without charset.
    """

    template: str
    path: str
    media_type: str


RSS = FeedFormat("rss.xml", "/feed.xml", "application/rss+xml")
ATOM = FeedFormat("atom.xml", "/atom.xml", "application/atom+xml")
JSON = FeedFormat("feed.json", "/feed.json", "application/feed+json")
# RDF is RSS 1.0.
RDF = FeedFormat("rdf.xml", "/index.rdf", "application/rdf+xml")
FORUM = FeedFormat("rss.xml", "/feed.php?mode=topics", "text/xml")
