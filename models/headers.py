"""Names of the headers that this job writes, and how a header is read.

Every name begins with `urltree-`, so that users' own headers never meet ours.
"""

from __future__ import annotations

from collections.abc import Sequence

ORIGIN = "urltree-origin"  # topic/partition/offset of the first copy: on re-keyed, replayed records
ARRIVED = "urltree-arrived"  # on documents, re-keyed records: of the first copy, ms since 1970
REKEYED = "urltree-rekeyed"  # on a record that normalize has put under its domain's key
FETCHED_FOR = "urltree-fetched-for"  # on raw-html: origin, in fetches, of what asked for this page
COMMAND = "urltree-command"  # an operator's wish to the owner of a table, see `models.command`

# Dead letters; MESSAGE ends them, the original record's headers follow (`models.dead_letter`).
STAGE = "urltree-stage"
REASON = "urltree-reason"
TOPIC = "urltree-topic"
KEY = "urltree-key"
MESSAGE = "urltree-message"

Headers = Sequence[tuple[str, bytes | None]]


def header(headers: Headers | None, name: str) -> str | None:
    """The last header of that name as text, as Kafka's own clients choose; None if none is.

    Bytes that are not UTF-8 become U+FFFD: a header that we do not write ourselves never fails.
    """
    for key, value in reversed(headers or ()):
        if key == name and value is not None:
            return value.decode(errors="replace")
    return None
