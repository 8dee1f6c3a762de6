"""Revisits: the same address is fetched again. Has the page changed, and which version is later?

    revisit ──▶ older than the stored version? ──yes──▶ duplicate of the later version (superseded)
                     │ no
                     └▶ same content? ──yes──▶ duplicate
                              │ no
                              └▶ new version: same document id, its own origin

Only the same *address* is a revisit: equal as requested, after redirects, or after normalisation.
Two addresses that only a rule makes equal (https instead of http, a tracking parameter) remain
duplicates. If the rule is wrong, two different pages would otherwise replace each other again and
again under one id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import xxhash

from urltree.document import Document
from urltree.html.blocks import TextBlock
from urltree.site.row import Row

Revisits = Literal["drop", "replace"]


def content_digest(blocks: Sequence[TextBlock]) -> int:
    """Return the XXH3-64 digest of the text whose change makes a new version of a page.

    The digest covers the text of every block that is not a link as a whole. It includes digits and
    punctuation, because a corrected number is a correction (`block_hash` covers letters only).
    Lists of headlines beside an article change with every fetch and are left out. If links make up
    more than half of the page's text, the links are its content and the digest covers all blocks.
    """
    own = [block for block in blocks if block.link_share < 1]
    linked = sum(len(block.text) * block.link_share for block in blocks)
    if 2 * linked > sum(len(block.text) for block in blocks):
        own = list(blocks)
    return xxhash.xxh3_64_intdigest("\n".join([block.text for block in own]).encode())


def is_older(origin: str, time: int | None, than: str, than_time: float) -> bool:
    """Return whether a page is an older version than the stored one.

    Within a partition the offset decides. Partitions have no order among each other, so there the
    document time decides if the page has one. A page without a date, or with the same time, is not
    older: the version that arrives last counts.

    Args:
        origin: topic/partition/offset of the page.
        time: document time of the page in microseconds, None if it has none.
        than: origin of the stored version.
        than_time: time of the stored version in microseconds; -inf if it has none.
    """
    (place, _, offset), (other, _, than_offset) = origin.rpartition("/"), than.rpartition("/")
    if place == other and offset.isdecimal() and than_offset.isdecimal():
        return int(offset) < int(than_offset)
    return origin != than and time is not None and time < than_time


def superseded_by(document: Document, row: Row | None) -> str | None:
    """Return the origin of a later version of a document if the row stores one, else None.

    Such a document is a replay; it must not replace the version that has replaced it.

    Args:
        document: a version of a page.
        row: the row under its id, None if there is none.
    """
    if row is None:
        return None
    is_past = is_older(document.origin, document.time, row.origin, row.time)
    return row.origin if is_past else None
