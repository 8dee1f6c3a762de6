"""Names of the headers that the job writes, and a function that reads a header.

Every name begins with `urltree-`, so that it does not collide with other headers of users. If the
job has a key, these headers count only on records that the job has signed, see
`models.headers.signature`.
"""

from __future__ import annotations

from collections.abc import Sequence

PREFIX = "urltree-"

# On a record that was sent again: topic/partition/offset of the page's first copy.
ORIGIN = "urltree-origin"
# On a document or a record with a corrected key: time of the page's first copy, in milliseconds
# since 1970.
ARRIVED = "urltree-arrived"
# Marks a record of raw-html that `normalize` sent again, because its key was not its domain.
REKEYED = "urltree-rekeyed"
# On a fetched page in raw-html: origin of its request in fetches.
FETCHED_FOR = "urltree-fetched-for"
# Marks a record that is a command of an operator instead of a page, see `models.command`.
COMMAND = "urltree-command"
# Proves that a worker or a command of this job has written the other headers.
SIGNATURE = "urltree-signature"

# Headers of dead letters. MESSAGE is the last one; the original record's headers follow it.
STAGE = "urltree-stage"
REASON = "urltree-reason"
TOPIC = "urltree-topic"
KEY = "urltree-key"
OFFSETS = "urltree-offsets"
MESSAGE = "urltree-message"

Headers = Sequence[tuple[str, bytes | None]]


def header(headers: Headers | None, name: str) -> str | None:
    """Return the last header with this name as text, or None if there is none.

    Kafka's own clients also return the last one. Bytes that are not UTF-8 become U+FFFD, so that a
    header of another program never causes an error.
    """
    for key, value in reversed(headers or ()):
        if key == name and value is not None:
            return value.decode(errors="replace")
    return None
