"""Chance that is the same for the same: a decision made again is the same decision."""

from __future__ import annotations

import xxhash


def chance_of(name: str) -> float:
    """A number from 0 to 1."""
    return xxhash.xxh3_64_intdigest(name.encode(errors="replace")) / 2**64
