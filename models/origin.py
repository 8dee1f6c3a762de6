"""The origin of a page: topic/partition/offset of its first copy, e.g. `raw-html/3/1042`.

It ties every output to its input, on every record downstream (issue 3, section 3).
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Kafka allows these characters in the name of a topic, and 249 of them.
_ORIGIN = re.compile(r"([a-zA-Z0-9._-]{1,249})/(0|[1-9][0-9]{0,9})/(0|[1-9][0-9]{0,18})")


class Origin(NamedTuple):
    """Where the first copy of a page lies in Kafka; `str()` of it is its form on the wire."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Read the form of the wire.

        Raises:
            ValueError: it is none.
        """
        match = _ORIGIN.fullmatch(text)
        if match is None:
            raise ValueError(f"origin should be topic/partition/offset, is {text[:300]!r}")
        topic, partition, offset = match.groups()
        return cls(topic, int(partition), int(offset))
