"""What a site's feed consists of, and how the formats are called; `templates/feeds` writes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a feed: an address, and what the feed says of it.

    Attributes:
        id: unique among all items; the same article once more is another item.
        published: when it comes out; items are listed in this order.
    """

    id: str
    url: str
    title: str
    summary: str
    published: datetime


@dataclass(frozen=True, slots=True)
class Format:
    """How a site's feed is written, and where it lies.

    Attributes:
        template: name in `templates/feeds`.
        path: with query.
        media_type: as the header says it, without charset.
    """

    template: str
    path: str
    media_type: str


RSS = Format("rss.xml", "/feed.xml", "application/rss+xml")
ATOM = Format("atom.xml", "/atom.xml", "application/atom+xml")
JSON = Format("feed.json", "/feed.json", "application/feed+json")
RDF = Format("rdf.xml", "/index.rdf", "application/rdf+xml")  # RSS 1.0, as many manuals still have
FORUM = Format("rss.xml", "/feed.php?mode=topics", "text/xml")
