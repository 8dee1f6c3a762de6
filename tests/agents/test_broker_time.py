"""A worker knows the broker's time from the confirmations of its own records."""

from __future__ import annotations

from aiokafka.structs import RecordMetadata, TopicPartition

from agents.kafka.session.broker_time import BrokerTime


def confirmation(timestamp: int, kind: int) -> RecordMetadata:
    """Return the confirmation of a record with a time in milliseconds."""
    return RecordMetadata("t", 0, TopicPartition("t", 0), 7, timestamp, kind, 0)


def test_the_time_goes_on_from_the_newest_stamp_of_the_broker() -> None:
    """The time is that of the last stamp, plus the seconds since; our own clock does not count."""
    ticks = [100.0]
    time = BrokerTime(lambda: ticks[0])
    assert time.now() is None
    time.confirm(confirmation(5_000_000, 1))
    ticks[0] += 30
    assert time.now() == 5_030.0
    time.confirm(confirmation(4_000_000, 1))
    assert time.now() == 4_000.0


def test_a_time_that_the_producer_has_set_says_nothing() -> None:
    """A confirmation of a topic with CreateTime leaves the time unknown."""
    time = BrokerTime()
    time.confirm(confirmation(5_000_000, 0))
    assert time.now() is None
