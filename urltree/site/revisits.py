"""Revisits: decide whether a page that was fetched again has changed, and which version is later.

    revisit ──▶ older than the stored version? ──yes──▶ duplicate of the later version (superseded)
                     │ no
                     └▶ same content? ──yes──▶ duplicate
                              │ no
                              └▶ new version: same document id, its own origin

A page is a revisit only if its *address* is the same: as requested, after redirects, or after
normalisation. If only a rule makes two addresses equal (https instead of http, a tracking
parameter), their pages remain duplicates. Otherwise a wrong rule would make two different pages
replace each other again and again under one id.
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
    """Return the XXH3-64 digest of a page's text. A page with another digest is a new version.

    The digest covers the text of every block that is not a link as a whole. It includes digits and
    punctuation, because a changed number is a change of the page (`block_hash` covers letters
    only). Links are left out, because lists of headlines beside an article change with every fetch.
    If more than half of the page's text is in links, the digest covers all blocks.
    """
    own = [block for block in blocks if block.link_share < 1]
    linked = sum(len(block.text) * block.link_share for block in blocks)
    if 2 * linked > sum(len(block.text) for block in blocks):
        own = list(blocks)
    return xxhash.xxh3_64_intdigest("\n".join([block.text for block in own]).encode())


def is_older(origin: str, time: int | None, than: str, than_time: float) -> bool:
    """Return whether a page is an older version than the stored one.

    If both come from the same partition, their offsets decide. Records of different partitions have
    no order, so their document times decide. A page without a document time, or with the same time
    as the stored version, is not older and replaces it.

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

    A document with a later version is a replay. It must not replace the later version.

    Args:
        document: a version of a page.
        row: the row under the document's id, None if there is none.
    """
    if row is None:
        return None
    is_past = is_older(document.origin, document.time, row.origin, row.time)
    return row.origin if is_past else None
