"""Normalisation: is this page new, a replay, a revisit, or a duplicate? (Paper, section 3).

    page ──▶ keys ──▶ look up `seen` ──▶ parse ──▶ Forward: document, and what to put in `seen`
                            │
                            └──▶ Duplicate: of which page, and the step that reveals it

The job's agent and the library both call `normalise`, so that they cannot differ. It decides
only: the caller puts `seen`, and only when the document is forwarded. Pages are parsed last, for
half of the paper's stream were duplicates; but a revisit that may supersede is parsed to know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from urltree.address.url_key import KeyScheme, UrlKey
from urltree.document import Document
from urltree.html.blocks import TokenizedPage
from urltree.html.tokenizer import tokenize
from urltree.page import Page
from urltree.site.revisits import Revisits, content_digest, is_older
from urltree.site.seen import Horizon, Seen, Step, Version, duplicate_step

LookUp = Callable[[UrlKey], bytes | None]
Content = Callable[[], int]  # digest of a page's content, made when it is asked for


class Arrival(Enum):
    """Why a page goes on as a document."""

    NEW = "new"
    REPLAY = "replay"  # the same origin again
    REVISIT = "revisit"  # has changed, and supersedes what was seen


@dataclass(frozen=True, slots=True)
class Forward:
    """A page that goes on as a document.

    Attributes:
        seen: to be put under the document's domain and id, also for a replay: the first write may
            have been lost behind us.
        arrival: only a new page's time is added to the domain's horizon.
    """

    document: Document
    seen: Seen
    arrival: Arrival


class Onward(NamedTuple):
    """The decision that a page goes on: its key, what to put in `seen`, and why."""

    key: UrlKey
    seen: Seen
    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A page that was seen before, under another origin.

    Attributes:
        key: under which the first copy is stored.
        first_origin: of the copy that was forwarded.
        step: the first step that reveals it, or `superseded`.
    """

    key: UrlKey
    first_origin: str
    step: Step


def normalise(  # noqa: PLR0913, PLR0917 - all that a decision depends on
    page: Page,
    origin: str,
    schemes: Sequence[KeyScheme],
    horizon: Horizon,
    look_up: LookUp,
    revisits: Revisits = "drop",
) -> Forward | Duplicate:
    """Decide what becomes of a page, and take it apart if it goes on.

    Args:
        page: admitted, with a URL.
        origin: topic/partition/offset of its first copy.
        schemes: the one in force first; then, for as long as `seen` remembers, those before it.
        horizon: of the page's domain.
        look_up: what is stored in `seen` under a key, encoded.
        revisits: whether a page that has changed supersedes what was seen of it.

    Raises:
        PageError: the page's fault.
        SeenError: stored bytes that this release cannot read.
    """
    parsed = _Parsed(page)
    url = page.final_url or ""
    keys = [scheme.key(url, parsed.title) for scheme in schemes]
    content = parsed.content if revisits == "replace" else None
    decision = decide(page, keys, origin, horizon, look_up, content)
    if isinstance(decision, Duplicate):
        return decision
    document = Document.of(page, decision.key, parsed.tokens, origin)
    return Forward(document, decision.seen, decision.arrival)


def decide(  # noqa: PLR0913, PLR0917 - all that it depends on
    page: Page,
    keys: Sequence[UrlKey],
    origin: str,
    horizon: Horizon,
    look_up: LookUp,
    content: Content | None = None,
) -> Onward | Duplicate:
    """Compare a page with what was seen under its keys.

    What was seen longer ago than the horizon is unseen. An undated page has the newest time of
    its domain. A replay keeps the key and the time under which it was forwarded first, so that it
    is the same document after a switch of schemes. Where revisits are dropped, `content` is None.
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


def _seen(page: Page, key: UrlKey, origin: str, time: int) -> Seen:
    response = page.final_url or ""
    return Seen.of(origin, time, page.url or response, response, key.canonical)


class _Parsed:
    """A page's tokens, made when they are first asked for."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @cached_property
    def tokens(self) -> TokenizedPage:
        return tokenize(self._page.html, self._page.content_type)

    def content(self) -> int:
        """Digest of what would make it another version."""
        return content_digest(self.tokens.blocks)

    def title(self) -> str | None:
        """The input's title, else the page's own; asked for where a rule retains `_cid_`."""
        return self._page.title or self.tokens.title
