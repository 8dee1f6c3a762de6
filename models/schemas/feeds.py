"""Schemas of the topics that follow feeds: feeds, fetches, poll-outcomes."""

from __future__ import annotations

from models.feed import Feed
from models.fetch import FetchRequest
from models.record import ID_PATTERN
from models.schemas.declaring import VERSION, field, property_schemas, topic
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.page import MAX_META_BYTES

_FEED_ADDRESS = "Address of the feed, as it was added."

FEEDS = topic(
    "feeds",
    "A feed that is followed. Public input, compacted; the key is the registrable domain of its "
    "site, a space, and its address; the partition is the one of the site. A null value stops "
    "following it. Unknown fields are ignored.",
    property_schemas(
        Feed,
        {
            "schema": VERSION,
            "title": field("Title for people, until the feed gives its own."),
            "meta": field(
                "The user's own strings, returned with every page of this feed; at most "
                f"{MAX_META_BYTES // 1024} KB as UTF-8.",
                type=["object", "null"],
                additionalProperties={"type": "string"},
            ),
        },
        nullable=True,
    ),
    ("schema",),
)

FETCHES = topic(
    "fetches",
    "A page to be fetched; the key is the domain of the address that is requested next. Unknown "
    "fields are ignored.",
    property_schemas(
        FetchRequest,
        {
            "schema": VERSION,
            "url": field("Address of the page, as the feed names it."),
            "redirects": field(
                "Addresses that earlier attempts were redirected to; the last one is requested "
                "next."
            ),
            "feed": field(_FEED_ADDRESS),
            "title": field("Title that the feed's item gives."),
            "description": field("Description that the feed's item gives."),
            "published": field(
                "Publication time that the feed's item gives, RFC 3339.", format="date-time"
            ),
            "meta": field("The feed's own strings, returned with the page."),
            "attempt": field("Number of attempts that failed."),
            "not_before": field("Time of the next attempt, in seconds since 1970."),
            "trouble": field("Why the last attempt failed."),
        },
        nullable=True,
    ),
    ("schema", "url"),
)

_ITEM = {
    "type": "array",
    "prefixItems": [
        {"type": "string", "pattern": ID_PATTERN},
        {"type": ["number", "null"]},
        {"type": "boolean"},
    ],
    "minItems": 3,
    "maxItems": 3,
}

POLL_OUTCOMES = topic(
    "poll-outcomes",
    "The result of a poll of a feed; the new items are in fetches. Internal: sent by the poll "
    "stage to itself, keyed by site. Times are seconds since 1970.",
    property_schemas(
        PollOutcome,
        {
            "schema": VERSION,
            "site": field("Registrable domain.", minLength=1),
            "feed": field(_FEED_ADDRESS, minLength=1),
            "sequence": field(
                "Number of this poll of the feed; the owner of the feed's state drops an outcome "
                "that has another number than the next.",
                minimum=0,
            ),
            "at": field("Time when the response was complete."),
            "result": field("How the poll ended."),
            "status": field("HTTP status of the last response; missing if there was none."),
            "trouble": field("Why the poll failed; missing if the fault is ours."),
            "message": field("Description of the failure for a person."),
            "moved_to": field("Address after permanent redirects; missing if there were none."),
            "etag": field("HTTP header ETag, unchanged."),
            "last_modified": field("HTTP header Last-Modified, unchanged."),
            "body_hash": field("XXH3-128 of the body.", pattern=ID_PATTERN),
            "max_age": field("Seconds, from Cache-Control."),
            "no_cache": field("Whether Cache-Control forbids caching; overrides max_age."),
            "retry_after": field("Seconds after `at`, from the header Retry-After."),
            "title": field("Title of the feed."),
            "ttl": field("Seconds, from ttl or sy:updatePeriod."),
            "skip_hours": field(
                "Hours in UTC when the feed asks not to be polled.",
                type="array",
                items={"type": "integer", "minimum": 0, "maximum": 23},
            ),
            "skip_days": field(
                "Days when the feed asks not to be polled; 0 is Monday.",
                type="array",
                items={"type": "integer", "minimum": 0, "maximum": 6},
            ),
            "items": field(
                "Items that the feed lists now: hash, time of its date or null, whether it is new.",
                type="array",
                items=_ITEM,
            ),
            "seconds": field("Latency in seconds."),
        },
    ),
    ("schema", "site", "feed", "sequence", "at", "result"),
    additionalProperties=False,
)
