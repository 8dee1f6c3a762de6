"""The origin of a page: topic/partition/offset of its first copy, such as `raw-html/3/1042`.

Every record that is made from a page contains the page's origin, so that each output can be traced
to its input.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Kafka allows these characters in the name of a topic, and at most 249 characters.
_ORIGIN = re.compile(r"([a-zA-Z0-9._-]{1,249})/(0|[1-9][0-9]{0,9})/(0|[1-9][0-9]{0,18})")


class Origin(NamedTuple):
    """The place of a page's first copy in Kafka; `str()` returns the form used in records."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Read an origin from the form used in records.

        Raises:
            ValueError: the text does not have this form.
        """
        match = _ORIGIN.fullmatch(text)
        if match is None:
            raise ValueError(f"origin should be topic/partition/offset, is {text[:300]!r}")
        topic, partition, offset = match.groups()
        return cls(topic, int(partition), int(offset))
