"""Records that nobody can read, as messages: each becomes one dead letter.

    offsets  40   41   42 ─ 57   58          the batch 42 to 57 cannot be decompressed
    messages 40   41      57     58          one message, at the last offset of the range

A message like this goes through the stage like all others. So its dead letter is confirmed before
an offset behind it is committed, and a replay sends the same dead letter again.
"""

from __future__ import annotations

from faust.types.tuples import ConsumerMessage

from urltree.page import Reason


class UnreadableMessage(ConsumerMessage):
    """A record, or a range of records, that the stage refuses without processing it.

    Attributes:
        reason: Reason of the dead letter.
        text: Explanation for a person.
        offsets: First and last offset of a range, and the offset of the message is the last one.
            None if the message stands for one record, whose key and headers may be known.
    """

    reason: Reason
    text: str
    offsets: tuple[int, int] | None = None
