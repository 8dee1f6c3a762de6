"""What the source of a section page remembers between two looks.

known     digests of the addresses that were on the page, of the last look first
places    digests of the places of articles, with the number of articles
shapes    numbers of articles and of other links that had a shape
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from urltree.crawl.decisions.feed.item import FeedItem
from urltree.crawl.decisions.source.address_shape import address_shape
from urltree.crawl.decisions.source.known_addresses import SIZE, address_digest
from urltree.crawl.decisions.source.section import link_key

MAX_KNOWN = 3_000  # addresses that are remembered: 20 KB
MAX_LEARNED = 60  # places, and shapes, that are remembered


class SectionMemory:
    """What is remembered between looks.

    Args:
        learned: what `as_json` has returned after the last look; empty at the first look.
    """

    def __init__(self, learned: Mapping[str, Any]) -> None:
        packed = base64.b64decode(learned.get("known", ""))
        digests = (packed[at : at + SIZE] for at in range(0, len(packed), SIZE))
        self._known: dict[bytes, None] = dict.fromkeys(digests)
        self._places: dict[str, int] = dict(learned.get("places", {}))
        self._shapes: dict[str, list[int]] = {
            shape: list(counts) for shape, counts in learned.get("shapes", {}).items()
        }

    def __contains__(self, key: str) -> bool:
        """Return whether an address was on the page at an earlier look."""
        return address_digest(key) in self._known

    @property
    def is_empty(self) -> bool:
        """Whether no link was seen so far."""
        return not self._known

    @property
    def has_places(self) -> bool:
        """Whether any articles were found so far."""
        return bool(self._places)

    def has_place(self, place: str) -> bool:
        """Return whether articles were found at a place."""
        return _digest_of_place(place) in self._places

    def shape(self, shape: str) -> tuple[int, int]:
        """Return the numbers of articles and of other links that had a shape."""
        articles, others = self._shapes.get(shape, (0, 0))
        return articles, others

    def learn(self, link: FeedItem, place: str, *, is_article: bool) -> None:
        """Remember what a new link was; `place` is what `has_place` is asked for."""
        counts = self._shapes.setdefault(address_shape(link.link), [0, 0])
        counts[0 if is_article else 1] += 1
        if is_article:
            digest = _digest_of_place(place)
            self._places[digest] = self._places.get(digest, 0) + 1

    def know(self, links: Sequence[FeedItem]) -> None:
        """Remember the addresses of a look; they are kept longer than those of earlier looks."""
        here = dict.fromkeys(address_digest(link_key(link.link)) for link in links)
        rest = [digest for digest in self._known if digest not in here]
        self._known = dict.fromkeys([*here, *rest][:MAX_KNOWN])

    def as_json(self) -> dict[str, Any]:
        """Return the memory as a mapping for JSON, of at most about 30 KB."""
        shapes = sorted(self._shapes.items(), key=lambda pair: -sum(pair[1]))[:MAX_LEARNED]
        places = sorted(self._places.items(), key=lambda pair: -pair[1])[:MAX_LEARNED]
        return {
            "known": base64.b64encode(b"".join(self._known)).decode(),
            "places": dict(places),
            "shapes": dict(shapes),
        }


def _digest_of_place(place: str) -> str:
    return address_digest(place).hex()
