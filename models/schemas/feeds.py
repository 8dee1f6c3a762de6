"""Schemas of the topics for feeds: feeds, rules, requests, fetches and poll-outcomes."""

from __future__ import annotations

from models.crawl.feed import FeedValue
from models.crawl.fetch import FetchRequest
from models.crawl.host_request import HostRequest
from models.crawl.poll_outcome import ANSWER_SCHEMA
from models.crawl.rule import RuleValue
from models.crawl.unchanged import Unchanged
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
        FeedValue,
        {
            "schema": VERSION,
            "title": field("Title for people, used until a poll has found the feed's own title."),
            "meta": field(
                "The user's own strings, returned with every page of the feed; at most "
                f"{MAX_META_BYTES // 1024} KB as UTF-8.",
                type=["object", "null"],
                additionalProperties={"type": "string"},
            ),
            "kind": field("Kind of the source; `feed` if missing."),
            "content": field("Where the text of the pages comes from; `page` if missing."),
            "interval_min": field("Shortest time between two polls in seconds."),
            "interval_max": field("Longest time between two polls in seconds."),
            "paused": field("Whether the source is not polled for now."),
            "only_new": field("Whether the items of the first poll are not fetched."),
            "first_poll_max": field("Largest number of items that the first poll takes."),
            "credentials": field("Name of the file with the credentials of the source."),
            "credentials_for_pages": field(
                "Whether the credentials are sent with the pages of the source, too."
            ),
        },
        nullable=True,
    ),
    ("schema",),
)

RULES = topic(
    "rules",
    "A rule of the operator: it denies requests, or removes waiting pages. Public input, "
    "compacted. The key is ACTION SCOPE TARGET in normal form, such as `deny domain example.org`. "
    "A null value ends the rule. Unknown fields are ignored.",
    property_schemas(
        RuleValue,
        {
            "schema": VERSION,
            "set_at": field("Time of the command, in seconds since 1970."),
            "note": field("Note of the operator."),
            "fetches_topic": field("Kafka's id of the topic fetches at the command."),
            "fetches_before": field(
                "For each partition of fetches, the offset before which waiting pages are removed."
            ),
            "feeds_topic": field("Kafka's id of the topic feeds at the command."),
            "feeds_before": field(
                "Offset in the partition of the site before which additions of the feed lie."
            ),
        },
        nullable=True,
    ),
    ("schema",),
)

REQUESTS = topic(
    "requests",
    "A small request for the worker that owns a host: for a feed, a sitemap, a section page, or a "
    "file that was redirected to the host. Internal. The key is the domain of the host that is "
    "asked next.",
    property_schemas(
        HostRequest,
        {
            "schema": VERSION,
            "purpose": field("What the request is for."),
            "url": field("Address that was asked first."),
            "redirects": field("Addresses to which it was redirected; the last is asked next."),
            "asked_at": field("Time of the request, in seconds since 1970."),
            "expires": field("Seconds after which the request is dropped."),
            "site": field("Registrable domain of the source."),
            "feed": field(_FEED_ADDRESS),
            "sequence": field("Number of the poll."),
            "feed_offset": field("Offset of the record of feeds that added the source."),
            "kind": field("Kind of the source."),
            "etag": field("Value for the header If-None-Match."),
            "last_modified": field("Value for the header If-Modified-Since."),
            "body_hash": field("Hash of the last body that was parsed."),
            "is_read_again": field("Whether an equal body is parsed nevertheless."),
            "with_content": field("Whether the items are returned with their full text."),
            "with_former": field("Whether the items are returned with their former hash."),
            "is_first": field("Whether the source was not read before."),
            "taken_after": field("Earliest time of the pages that are taken from a sitemap."),
            "credentials": field("Name of the file with the credentials of the source."),
            "permanent_to": field("Target of the last permanent redirect at the start."),
            "seconds": field("Longest latency of the responses so far."),
            "status": field("Status of the response with the file."),
            "body": field("Text of the file."),
            "message": field("Reason why there is no file."),
        },
    ),
    ("schema", "purpose", "url"),
)

UNCHANGED = topic(
    "unchanged",
    "A page that was asked for again and has not changed. The key is the origin of its record in "
    "fetches.",
    property_schemas(
        Unchanged,
        {
            "schema": VERSION,
            "url": field("Address of the page in its feed."),
            "origin": field("Origin of the record of fetches that asked for the page."),
            "at": field("Time of the answer, RFC 3339.", format="date-time"),
        },
    ),
    ("schema", "url", "origin", "at"),
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
            "site": field("Registrable domain of the feed."),
            "feed_offset": field("Offset of the record of feeds that added the feed."),
            "named_at": field("Time at which a poll found the page, in seconds since 1970."),
            "is_first_poll": field("Whether this was the first poll of the feed."),
            "is_revisit": field("Whether the page was fetched before."),
            "content": field("Where the text of the page comes from."),
            "feed_content": field("HTML of the item in the feed."),
            "credentials": field("Name of the file with the credentials for the page."),
            "refusals": field("Number of answers with status 404 or 403."),
            "held_since": field(
                "Time since which the page waits because it may be a wall, in seconds since 1970."
            ),
        },
        nullable=True,
    ),
    ("schema", "url"),
)

_ITEM = {
    "type": "object",
    "properties": {
        "link": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "published": {"type": "string"},
        "updated": {"type": "string"},
        "guid": {"type": "string"},
        "content": {"type": "string"},
        "former_hash": {"type": "string", "pattern": ID_PATTERN},
        "place": {"type": "string"},
    },
    "required": ["link"],
    "additionalProperties": False,
}

POLL_OUTCOMES = topic(
    "poll-outcomes",
    "What requests have shown about a source: a part of the answer to a request (kind `answer`), "
    "or a report about its pages (kind `report`). Internal: the stage fetch sends it to the worker "
    "that owns the state of the source. The key is the registrable domain of the source. Times "
    "are in seconds since 1970.",
    property_schemas(
        PollOutcome,
        {
            "schema": field("Version of this schema.", const=ANSWER_SCHEMA),
            "kind": field("Kind of the record.", enum=["answer", "report"]),
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
                "Items of this part, in the order of the source.", type="array", items=_ITEM
            ),
            "children": field(
                "Sitemaps that an index names, each as an array: address, and time of its last "
                "change or null.",
                type="array",
                items={
                    "type": "array",
                    "prefixItems": [{"type": "string"}, {"type": ["number", "null"]}],
                    "minItems": 2,
                    "maxItems": 2,
                },
            ),
            "part": field("Number of this part of the answer, from 0.", type="integer", minimum=0),
            "is_last": field("Whether no further part follows.", type="boolean"),
            "postponed_until": field(
                "Time before which the host may not be asked; the request was not sent.",
                type="number",
            ),
            "host_ready_at": field("Time from which the host may be asked again.", type="number"),
            "known": field(
                "Digests of the pages of a sitemap that count as seen since its first poll, "
                "base64.",
                type="string",
            ),
            "is_undated": field(
                "Whether the dates of a sitemap say nothing about which of its pages are new.",
                type="boolean",
            ),
            "unread": field("Number of items that were not read, because there were too many."),
            "unlinked": field("Number of items without a usable link."),
            "is_cut": field("Whether only the beginning of the body was read."),
            "seconds": field("Duration of the poll in seconds."),
            "walls": field(
                "Number of pages that were walls since the last report.", type="integer", minimum=0
            ),
            "dropped": field(
                "Addresses of pages that a rule of the operator has dropped from the queue.",
                type="array",
                items={"type": "string"},
            ),
            "coverage": field(
                "Shares of the text of a page that the feed's own text covers, from 0 to 1.",
                type="array",
                items={"type": "number", "minimum": 0, "maximum": 1},
            ),
        },
    ),
    ("schema", "kind", "site", "feed", "at"),
    additionalProperties=False,
)
