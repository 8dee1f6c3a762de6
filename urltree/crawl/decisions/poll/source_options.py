"""What a user can set for one source: its kind, its pace, its first poll, its credentials."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SourceKind(StrEnum):
    """The kind of a source: how its body is read."""

    FEED = "feed"  # RSS, RDF, Atom, CDF or JSON Feed
    SITEMAP = "sitemap"  # a sitemap, a news sitemap, or an index of sitemaps (sitemaps.org)
    SECTION = "section"  # an HTML page that links to new articles


class Content(StrEnum):
    """Where the text of a source's pages comes from."""

    PAGE = "page"  # each page is fetched
    FEED = "feed"  # the feed contains the full text of its items
    AUTO = "auto"  # five items are read both ways, and the comparison decides


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of one source.

    Attributes:
        kind: kind of the source.
        content: where the text of the pages comes from.
        interval_min, interval_max: bounds of the interval between two polls in seconds; None for
            those of the job.
        is_paused: whether the source is not polled for now.
        is_only_new: whether the items of the first poll count as seen and are not fetched.
        first_poll_max: largest number of items that the first poll takes; None for no limit.
        credentials: name of the file below `credentials_dir` with the user name and password, or
            with the token; None for a public source.
        are_credentials_for_pages: whether the credentials are sent with the pages, too.
    """

    kind: SourceKind = SourceKind.FEED
    content: Content = Content.PAGE
    interval_min: float | None = None
    interval_max: float | None = None
    is_paused: bool = False
    is_only_new: bool = False
    first_poll_max: int | None = None
    credentials: str | None = None
    are_credentials_for_pages: bool = False
