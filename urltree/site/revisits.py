"""Revisits: the same address again. Has the page changed, and which of two versions is later?

    revisit ──▶ older than what is stored? ──▶ superseded: a duplicate of the later version
                     │ no
                     └▶ same content? ──▶ a duplicate, as ever
                            └ no ──▶ supersedes: same id, its own origin (issue 6)

Only the same *address* is a revisit: equal as requested, after redirects, or once normalised. Two
addresses that a rule alone makes equal (https for http, a tracking parameter) stay duplicates: the
rule may be wrong, and then two pages would take turns under one id.
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
    """XXH3-64 of what a change of would be worth a new version.

    That is the text of all blocks that do not stand in a link as a whole, digits and punctuation
    included, for a corrected number is a correction (`block_hash` knows letters only). Lists of
    headlines beside an article change with every fetch, and are left out; on a page that is links
    by more than half they are what it says, and count.
    """
    own = [block for block in blocks if block.link_share < 1]
    linked = sum(len(block.text) * block.link_share for block in blocks)
    if 2 * linked > sum(len(block.text) for block in blocks):
        own = list(blocks)
    return xxhash.xxh3_64_intdigest("\n".join([block.text for block in own]).encode())


def is_older(origin: str, time: int | None, than: str, than_time: float) -> bool:
    """Whether a page is an older version than the one that is stored.

    Within a partition the offset says it, which is the order of work. Partitions have no order
    among each other: there the document time says it, where the page has one. Undated or of the
    same time it is no older, so that the version that comes last counts.

    Args:
        origin: topic/partition/offset of the page.
        time: document time in microseconds, None where it has none.
        than: the origin that is stored.
        than_time: the time that is stored with it; -inf where it has none.
    """
    (place, _, offset), (other, _, than_offset) = origin.rpartition("/"), than.rpartition("/")
    if place == other and offset.isdecimal() and than_offset.isdecimal():
        return int(offset) < int(than_offset)
    return origin != than and time is not None and time < than_time


def superseded_by(document: Document, stored: bytes | None) -> str | None:
    """Origin of a later version of a document, if that is what its row is of.

    Such a document is a replay: it must not take the place of what has taken its place.

    Args:
        document: a version of a page.
        stored: the row under its id, None where there is none.
    """
    if stored is None:
        return None
    row = Row.decode(stored)
    is_past = is_older(document.origin, document.time, row.origin, row.time)
    return row.origin if is_past else None
