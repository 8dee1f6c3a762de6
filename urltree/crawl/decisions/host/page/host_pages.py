"""What is remembered about the last pages of a host: a row of table `host_pages`.

    ends     path → items that were redirected to it from another path
    texts    address → digest of its text

`page_ends` decides from these counts whether a page is a wall. They are kept with the host at which
the pages ended. An item or an address counts once, however often its page is fetched, and the order
of the pages changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import zstandard

from urltree.crawl.decisions.timing import DAY, HOUR

HOST_PAGES_VERSION = 1
MAX_ENDS = 200  # paths that are remembered; the oldest is forgotten
MAX_TEXTS = 500  # addresses whose digests are remembered; the oldest is forgotten
MAX_ITEMS = 4  # items that are remembered for a path; three settle what it is

_KEPT_ENDS, _KEPT_TEXTS = 30 * DAY, 7 * DAY
_MAX_ROW = 256 * 1024  # bytes
# MemoryError: zstd allocates the size that its header names, and a damaged header names any size.
_DAMAGED = (ValueError, KeyError, TypeError, IndexError, AttributeError, MemoryError)


class HostPagesError(Exception):
    """A stored row of `host_pages` that this release cannot read."""


class PathEnd(NamedTuple):
    """A path at which pages ended that have another path in their feeds.

    Attributes:
        items: hashes of up to MAX_ITEMS of these items.
        at: time of the last of them, seconds since 1970.
    """

    items: tuple[int, ...]
    at: float


class ShownText(NamedTuple):
    """The text that an address has shown.

    Attributes:
        digest: digest of the text (`visible_text`).
        is_named: whether an item names this address, so that its page did not end there by chance.
        is_bare: whether the text does not show the title of the page (`PageEnd`).
        at: time of the page, seconds since 1970.
    """

    digest: int
    is_named: bool
    is_bare: bool
    at: float


@dataclass(slots=True)
class HostPages:
    """The last pages of a host. Paths, addresses and items are given by hashes of 48 bits.

    Attributes:
        ends: paths by hash, the oldest first.
        texts: texts by the hash of their address, the oldest first.
    """

    ends: dict[int, PathEnd]
    texts: dict[int, ShownText]

    @classmethod
    def empty(cls) -> HostPages:
        """Return the state of a host without pages."""
        return cls({}, {})

    def add_end(self, path: int, item: int, now: float) -> None:
        """Remember that the page of an item ended at a path."""
        known = self.ends.pop(path, None)
        items = known.items if known else ()
        if item not in items:
            items = (*items, item)[-MAX_ITEMS:]
        self.ends[path] = PathEnd(items, now)
        while len(self.ends) > MAX_ENDS:
            del self.ends[next(iter(self.ends))]

    def add_text(self, address: int, text: ShownText) -> None:
        """Remember the text of an address. An address that was named once stays so."""
        known = self.texts.pop(address, None)
        if known is not None and known.is_named:
            text = text._replace(is_named=True)
        self.texts[address] = text
        while len(self.texts) > MAX_TEXTS:
            del self.texts[next(iter(self.texts))]

    def items_at(self, path: int) -> int:
        """Return the number of items whose pages ended at a path; at most MAX_ITEMS."""
        found = self.ends.get(path)
        return len(found.items) if found else 0

    def is_named(self, address: int) -> bool:
        """Return whether an item names this address."""
        found = self.texts.get(address)
        return found is not None and found.is_named

    def addresses_with(self, digest: int) -> int:
        """Return the number of addresses that have shown a text."""
        return sum(text.digest == digest for text in self.texts.values())

    def single_ends_since(self, time: float, path: int) -> int:
        """Return the number of other paths since a time at which only one item ended."""
        return sum(
            end.at >= time and len(end.items) == 1 for at, end in self.ends.items() if at != path
        )

    def other_bare_texts_since(self, time: float, digest: int) -> int:
        """Return the number of other texts without their titles since a time."""
        found = {text.digest for text in self.texts.values() if text.is_bare and text.at >= time}
        return len(found - {digest})

    def encode(self) -> bytes:
        """Return the bytes of the row: its version, then JSON compressed by zstd."""
        fields = {
            "ends": [[path, end.items, end.at] for path, end in self.ends.items()],
            "texts": [[address, *text] for address, text in self.texts.items()],
        }
        return bytes([HOST_PAGES_VERSION]) + zstandard.compress(orjson.dumps(fields))

    @classmethod
    def decode(cls, row: bytes, now: float) -> HostPages:
        """Return the state in the bytes of a row, without what has expired.

        A time that is more than an hour later than now was written by a wrong clock: what it dates
        is dropped.

        Raises:
            HostPagesError: the row is damaged, or was written by another release.
        """
        try:
            if row[0] != HOST_PAGES_VERSION:
                raise ValueError(f"its version is {row[0]}, not {HOST_PAGES_VERSION}")
            fields: dict[str, Any] = orjson.loads(
                zstandard.decompress(row[1:], max_output_size=_MAX_ROW)
            )
            ends = {
                int(path): PathEnd(_hashes(items), float(at)) for path, items, at in fields["ends"]
            }
            texts = {
                int(address): ShownText(int(digest), bool(is_named), bool(is_bare), float(at))
                for address, digest, is_named, is_bare, at in fields["texts"]
            }
        except (*_DAMAGED, zstandard.ZstdError) as error:
            raise HostPagesError(
                f"a row of table host_pages cannot be read: {error}; it is damaged, or another "
                "release has written it"
            ) from None
        return cls(
            {path: end for path, end in ends.items() if -HOUR <= now - end.at <= _KEPT_ENDS},
            {name: text for name, text in texts.items() if -HOUR <= now - text.at <= _KEPT_TEXTS},
        )

    def is_forgotten(self) -> bool:
        """Return whether nothing is remembered, so that the row can be deleted."""
        return not self.ends and not self.texts


def _hashes(items: list[int]) -> tuple[int, ...]:
    return tuple(int(item) for item in items)[:MAX_ITEMS]
