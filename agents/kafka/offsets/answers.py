"""Answers about committed offsets: an answer with an error does not mean "nothing is committed".

    offset -1, no error         nothing is committed: begin at the oldest record
    an error of the coordinator no answer: ask again

Kafka answers a request for the committed offsets of a group with an error code for each partition
and, since version 2, with another one for the whole answer. If the whole answer has an error, it
names no partition. aiokafka 0.14 reads only the codes of partitions. So while a coordinator moves
or loads its group, aiokafka reports that nothing is committed, and a worker would read its topics
from their beginning (600 of 600 pages again in 3 of 8 restarts of a broker). Here both kinds of
codes are errors, in the consumers of workers and commands and in the admin client. aiokafka repeats
a request after such an error.
"""

from __future__ import annotations

from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.consumer import consumer
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
    for_code,
)
from aiokafka.protocol.commit import OffsetFetchRequest


def refuse_answers_with_errors() -> None:
    """Make all consumers of this process check answers. A second call changes nothing."""
    consumer.GroupCoordinator = Coordinator


def check_answer(response: Any) -> None:
    """Check an answer of Kafka; answers that are not about committed offsets always pass.

    Raises:
        KafkaError: The answer or one of its partitions has an error.
    """
    if response.API_KEY != OffsetFetchRequest.API_KEY:
        return
    of_partitions = [code for _, partitions in response.topics for *_, code in partitions]
    for code in (getattr(response, "error_code", 0), *of_partitions):
        if code:
            raise for_code(code)("Kafka has not told the committed offsets")


class Coordinator(GroupCoordinator):
    """Client of a group's coordinator that checks answers."""

    async def _send_req(self, request: Any) -> Any:
        response = await super()._send_req(request)
        try:
            check_answer(response)
        except (GroupCoordinatorNotAvailableError, NotCoordinatorForGroupError):
            self.coordinator_dead()  # the next request looks for the coordinator again
            raise
        return response


class Admin(AIOKafkaAdminClient):
    """Admin client that checks answers."""

    async def _send_request(self, request: Any, node_id: int | None = None) -> Any:
        response = await super()._send_request(request, node_id)
        check_answer(response)
        return response
