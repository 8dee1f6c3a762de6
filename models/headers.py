"""Names of the headers that the job writes, and a function that reads a header.

Every name begins with `urltree-`, so that it never collides with users' own headers.
"""

from __future__ import annotations

from collections.abc import Sequence

# Origin of the page, on records that were sent again: topic/partition/offset of its first copy.
ORIGIN = "urltree-origin"
# Time of the first copy in ms since 1970, on documents and on records with a corrected key.
ARRIVED = "urltree-arrived"
# Marks a record that normalize sent again under the key of its domain.
REKEYED = "urltree-rekeyed"
# Origin of the request in fetches, on the page in raw-html that answers it.
FETCHED_FOR = "urltree-fetched-for"
# Marks an operator's command to the owner of a table, see `models.command`.
COMMAND = "urltree-command"

# Headers of dead letters. MESSAGE is the last one; the original record's headers follow it.
STAGE = "urltree-stage"
REASON = "urltree-reason"
TOPIC = "urltree-topic"
KEY = "urltree-key"
MESSAGE = "urltree-message"

Headers = Sequence[tuple[str, bytes | None]]


def header(headers: Headers | None, name: str) -> str | None:
    """Return the last header of that name as text, as Kafka's own clients do; None if missing.

    Bytes that are not UTF-8 become U+FFFD, so that no header of another program causes an error.
    """
    for key, value in reversed(headers or ()):
        if key == name and value is not None:
            return value.decode(errors="replace")
    return None
