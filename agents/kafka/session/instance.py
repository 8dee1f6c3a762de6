"""Static members: only one worker at a time may have an instance id.

    worker A ──join "pod-0"──▶ group        worker B ──join "pod-0"──▶ group: B replaces A
    A, at its next heartbeat: replaced ──▶ mark on A's disk, exit code 75
    A, started again: mark found ──▶ is "pod-0" a member? ──▶ wait, ask again, … ──▶ join

Kafka gives the partitions of an instance id to the worker that joined last. aiokafka sends
heartbeats without the instance id, so Kafka answers the replaced worker "unknown member", as if its
session had ended; then it joins again and replaces the other: two workers threw each other out
once a second. Here a worker asks before it joins again, with a heartbeat that has the instance id.
Kafka's answer distinguishes the three cases: the id is ours, free, or another member's.

A worker that was killed is still a member until its session ends. Its restart joins at once,
because it finds no mark, and so replaces only itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiokafka.errors import KafkaError
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Int16, Int32, Schema, String

from agents.telemetry.logs import log

_FENCED = 82  # FENCED_INSTANCE_ID in Kafka's protocol; aiokafka does not know it
_NOT_NOW = (14, 15, 16)  # the coordinator loads the group, is not available, or has moved
_NO_MEMBER = "-"  # a member id that Kafka never gives
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds between two questions

_RETRY = 0.2  # seconds until a question is repeated that Kafka did not answer


class ReplacedError(KafkaError):
    """Another worker has joined the group with the instance id of this worker."""


class _HeartbeatResponse(Response):
    API_KEY = 12
    API_VERSION = 3
    SCHEMA = Schema(("throttle_time_ms", Int32), ("error_code", Int16))


class _HeartbeatRequestStruct(RequestStruct):
    API_KEY = 12
    API_VERSION = 3
    RESPONSE_TYPE = _HeartbeatResponse
    SCHEMA = Schema(
        ("group", String("utf-8")),
        ("generation_id", Int32),
        ("member_id", String("utf-8")),
        ("group_instance_id", String("utf-8")),
    )


class _Heartbeat(Request[_HeartbeatRequestStruct]):
    """Heartbeat with an instance id, which Kafka understands since 2.3."""

    API_KEY = 12

    def __init__(self, *fields: Any) -> None:
        self._fields = fields

    def build(self, request_struct_class: type[_HeartbeatRequestStruct]) -> _HeartbeatRequestStruct:
        return request_struct_class(*self._fields)


class Instance:
    """The instance id of a worker, and its place in the group.

    Args:
        name: The instance id.
        mark: File on the worker's disk that says that the worker was replaced.

    Attributes:
        is_waiting: Whether the worker waits until the other worker has left the group.
    """

    def __init__(self, name: str, mark: Path) -> None:
        self.name, self._mark = name, mark
        self.is_waiting = False
        self._held: tuple[int, str] | None = None  # our last generation and member id

    def guard(self, coordinator: Any, on_replaced: Callable[[ReplacedError], None]) -> None:
        """Let aiokafka's coordinator ask before each join.

        Args:
            coordinator: The coordinator of the worker's consumer.
            on_replaced: Called, in the thread of the consumer, if another worker has the id.
        """
        self._on_replaced = on_replaced
        rejoin: Callable[[Any], Awaitable[bool]] = coordinator._do_rejoin_group  # noqa: SLF001

        async def rejoin_if_free(subscription: Any) -> bool:
            if await self._may_join(coordinator):
                try:
                    is_member = await rejoin(subscription)
                except KafkaError:  # such as: replaced between the question and the join
                    if await self._may_join(coordinator):
                        raise
                    return False
                if is_member:
                    self._held = coordinator.generation, coordinator.member_id
                return is_member
            return False

        coordinator._do_rejoin_group = rejoin_if_free  # noqa: SLF001

    async def _may_join(self, coordinator: Any) -> bool:
        """Return whether to join now; wait if another worker has the instance id."""
        held, self._held = self._held, None
        if held is not None and await self._is_taken(coordinator, *held):
            with suppress(OSError):  # without the mark, the next start replaces the other worker
                self._mark.parent.mkdir(parents=True, exist_ok=True)
                self._mark.write_text(self.name)
            self._on_replaced(
                ReplacedError(
                    f"another worker has joined the group with the instance_id {self.name}; "
                    "give each worker its own"
                )
            )
            await asyncio.wait([coordinator._closing])  # noqa: SLF001 - the process ends now
            return False
        if not (self._mark.exists() and self._mark.read_text() == self.name):
            return True
        pause = _FIRST_PAUSE
        while await self._is_taken(coordinator, -1, _NO_MEMBER):
            if not self.is_waiting:
                self.is_waiting = True
                log.warning(
                    "another worker has the instance_id of this worker; waiting until it has left "
                    "the group",
                    instance_id=self.name,
                )
            await asyncio.wait([coordinator._closing], timeout=pause)  # noqa: SLF001
            if coordinator._closing.done():  # noqa: SLF001
                return False
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._mark.unlink(missing_ok=True)
        self.is_waiting = False
        return True

    async def _is_taken(self, coordinator: Any, generation: int, member: str) -> bool:
        """Return whether the instance id belongs to another member than this one."""
        beat = _Heartbeat(coordinator.group_id, generation, member, self.name)
        while not coordinator._closing.done():  # noqa: SLF001
            await coordinator.ensure_coordinator_known()
            try:
                answer = await coordinator._send_req(beat)  # noqa: SLF001
            except KafkaError:
                await asyncio.sleep(_RETRY)
                continue
            if answer.error_code not in _NOT_NOW:
                return bool(answer.error_code == _FENCED)
            coordinator.coordinator_dead()
            await asyncio.sleep(_RETRY)
        return False
