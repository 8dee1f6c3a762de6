"""Schemas of the topics for feeds: feeds, fetches and poll-outcomes."""

from __future__ import annotations

from models.feed import Feed
from models.fetch import FetchRequest
from models.record import ID_PATTERN
from models.schemas.declaring import VERSION, field, property_schemas, topic
from urltree.crawl.decisions.poll.outcome import PollOutcome
from urltree.page import MAX_META_BYTES

_FEED_ADDRESS = "Address with which the feed was added."

FEEDS = topic(
    "feeds",
    "A feed to follow. Public input, compacted. The key is the registrable domain of the feed, a "
    "space, and the address of the feed; the domain alone decides the partition. A null value "
    "removes the feed. Unknown fields are ignored.",
    property_schemas(
        Feed,
        {
            "schema": VERSION,
            "title": field("Title for people, used until a poll has found the feed's own title."),
            "meta": field(
                "The user's own strings, returned with every page of the feed; at most "
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
            "url": field("Address of the page in the feed."),
            "redirects": field(
                "Addresses to which earlier attempts were redirected; the last address is "
                "requested next."
            ),
            "feed": field(_FEED_ADDRESS),
            "title": field("Title of the page in the feed's item."),
            "description": field("Description of the page in the feed's item."),
            "published": field(
                "Publication time in the feed's item, RFC 3339.", format="date-time"
            ),
            "meta": field("Strings that the user gave for the feed, returned with the page."),
            "attempt": field("Number of failed attempts to fetch the page."),
            "not_before": field("Earliest time of the next attempt, in seconds since 1970."),
            "trouble": field("Reason why the last attempt failed."),
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
    "The result of a poll of a feed; the new items are in fetches. Internal: the stage poll sends "
    "it to the worker that owns the feed's state. The key is the registrable domain of the feed. "
    "Times are in seconds since 1970.",
    property_schemas(
        PollOutcome,
        {
            "schema": VERSION,
            "site": field("Registrable domain of the feed.", minLength=1),
            "feed": field(_FEED_ADDRESS, minLength=1),
            "sequence": field(
                "Number of this poll of the feed. The worker that owns the feed's state ignores an "
                "outcome whose number is not the next one.",
                minimum=0,
            ),
            "at": field("Time at which the response was complete."),
            "result": field("Result of the poll."),
            "status": field("HTTP status of the last response; missing if there was none."),
            "trouble": field("Cause of a failed poll; missing if our own error was the cause."),
            "message": field("Description of the failed poll for a person."),
            "moved_to": field(
                "Address after redirects, if all of them were permanent; else missing."
            ),
            "etag": field("HTTP header ETag of the response, unchanged."),
            "last_modified": field("HTTP header Last-Modified of the response, unchanged."),
            "body_hash": field("XXH3-128 hash of the body of the response.", pattern=ID_PATTERN),
            "max_age": field("Seconds of max-age in the header Cache-Control."),
            "no_cache": field("Whether Cache-Control forbids caching; if so, max_age is ignored."),
            "retry_after": field("Seconds after `at` in the header Retry-After."),
            "title": field("Title of the feed."),
            "ttl": field(
                "Seconds between two polls that the feed asks for in ttl or sy:updatePeriod."
            ),
            "skip_hours": field(
                "Hours in UTC in which the feed asks not to be polled.",
                type="array",
                items={"type": "integer", "minimum": 0, "maximum": 23},
            ),
            "skip_days": field(
                "Days on which the feed asks not to be polled; 0 is Monday.",
                type="array",
                items={"type": "integer", "minimum": 0, "maximum": 6},
            ),
            "items": field(
                "Items in the feed, each as an array: hash of the item, time of its date or null, "
                "and whether the item is new.",
                type="array",
                items=_ITEM,
            ),
            "seconds": field("Duration of the poll in seconds."),
        },
    ),
    ("schema", "site", "feed", "sequence", "at", "result"),
    additionalProperties=False,
)
