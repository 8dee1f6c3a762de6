"""Deduplication: decide whether a page is new, a replay, a revisit, or a duplicate (section 3).

    request URL ──redirects──▶ response URL ──normalise──▶ canonical form ──rules──▶ URL key

    page, keys ──▶ look up `seen` ──┬▶ Onward: the page continues as a document
                                    └▶ Duplicate: key and origin of the first page, and the step

Two pages with the same URL key are duplicates. A duplicate is counted under the first step after
which the two URLs were equal (paper, section 3 and Figure 2). A page is a replay, and not a
duplicate, if it also has the same *origin* (topic/partition/offset): Kafka delivers at least once,
and a later stage may have lost the first delivery. `revisits.py` decides whether a changed page
replaces its former version.

This module only decides. If the page continues as a document, the caller stores the `seen` record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, StrEnum
from typing import NamedTuple

from urltree.address.url_key import UrlKey
from urltree.page import Page
from urltree.site.revisits import is_older
from urltree.site.seen import Horizon, Seen, Version

LookUp = Callable[[UrlKey], bytes | None]
Content = Callable[[], int]  # returns the content digest of a page; called only when needed


class Step(StrEnum):
    """The step of URL normalisation that revealed a duplicate."""

    REQUEST_URL = "request-url"
    RESPONSE_URL = "response-url"
    CANONICAL = "canonical"
    RULE = "rule"
    # Not a step: the page is older than the version that was forwarded (`revisits.py`).
    SUPERSEDED = "superseded"


class Arrival(Enum):
    """The reason why a page continues as a document."""

    NEW = "new"
    REPLAY = "replay"  # the same origin was delivered again
    REVISIT = "revisit"  # the page has changed and replaces its former version


class Onward(NamedTuple):
    """The decision that a page continues as a document.

    Attributes:
        key: URL key of the document.
        seen: record to store under the key.
        arrival: reason why the page continues.
    """

    key: UrlKey
    seen: Seen
    arrival: Arrival


class Duplicate(NamedTuple):
    """The decision that another copy of a page was forwarded before.

    Attributes:
        key: URL key under which the forwarded copy is stored.
        first_origin: origin of the forwarded copy.
        step: first step of URL normalisation that reveals the duplicate, or `superseded`.
    """

    key: UrlKey
    first_origin: str
    step: Step


def decide(  # noqa: PLR0913, PLR0917 - the decision depends on all of them
    page: Page,
    keys: Sequence[UrlKey],
    origin: str,
    horizon: Horizon,
    look_up: LookUp,
    content: Content | None = None,
) -> Onward | Duplicate:
    """Compare a page with the `seen` records under its keys, and decide how it continues.

    A record older than the horizon reveals only replays. A page without a date gets the newest time
    of its site. A replay keeps the key and the time of its first delivery, so that it remains the
    same document after the rules of URL normalisation have changed.

    Args:
        page: an admitted page.
        keys: URL keys of the page: first by the current rules, then by former rules.
        origin: topic/partition/offset of the page's record. A record that is sent again keeps the
            first origin.
        horizon: horizon of the page's site.
        look_up: function that returns the encoded `seen` record of a key, None if there is none.
        content: function that returns the content digest of the page; None if each revisit is
            dropped as a duplicate.

    Raises:
        SeenError: this release cannot read a stored record.
    """
    time = horizon.newest_time() if page.time is None else page.time
    for key in keys:
        stored = look_up(key) if key.domain == keys[0].domain else None
        if stored is None:
            continue
        first = Seen.decode(stored)
        step = duplicate_step(first, _seen(page, key, origin, time))
        if step is None:
            return Onward(key, first, Arrival.REPLAY)
        if horizon.is_past(first.time):
            continue
        if content is None or step is Step.RULE:
            return Duplicate(key, first.origin, step)
        if is_older(origin, page.time, first.origin, first.version_time):
            return Duplicate(key, first.origin, Step.SUPERSEDED)
        version = Version(content(), time)
        if first.version is not None and first.version.content == version.content:
            return Duplicate(key, first.origin, step)
        seen = replace(_seen(page, key, origin, first.time), version=version)
        return Onward(key, seen, Arrival.REVISIT)
    seen = _seen(page, keys[0], origin, time)
    if content is not None:
        seen = replace(seen, version=Version(content(), time))
    return Onward(keys[0], seen, Arrival.NEW)


def duplicate_step(first: Seen, page: Seen) -> Step | None:
    """Return the first step after which the URLs of two records are equal; None for a replay.

    Args:
        first: record that is stored under the key of both.
        page: record that would be stored for the page that arrives now.
    """
    if first.origin == page.origin:
        return None
    if first.request == page.request:
        return Step.REQUEST_URL
    if first.response == page.response:
        return Step.RESPONSE_URL
    return Step.CANONICAL if first.canonical == page.canonical else Step.RULE


def _seen(page: Page, key: UrlKey, origin: str, time: int) -> Seen:
    response = page.final_url or ""
    return Seen.of(origin, time, page.url or response, response, key.canonical)
