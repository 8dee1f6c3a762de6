"""A limit on the requests that a worker sends to one IP address at the same time.

Providers run thousands of hosts at one address. A limit for each host does not protect them.

    host a ─▶ 192.0.2.1 ─┐   at most `at_once` requests; the others wait in the order they came
    host b ─▶ 192.0.2.1 ─┤
    host c ─▶ 192.0.2.7 ─┴─▶ does not wait
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from contextlib import suppress


class AddressGate:
    """The numbers of requests by address, and the requests that wait.

    Args:
        at_once: largest number of simultaneous requests to one address.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._taken: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)

    def taken(self, address: str) -> int:
        """Return the number of slots of an address that are taken."""
        return self._taken.get(address, 0)

    async def take(self, address: str) -> None:
        """Wait for a slot of an address, and take it."""
        if self._taken[address] < self._at_once and address not in self._waiting:
            self._taken[address] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting[address].append(turn)
        try:
            await turn  # `free` passes on its slot, so that nobody else can take it
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.free(address)
            else:
                self._forget(address, turn)
            raise

    def free(self, address: str) -> None:
        """Give a slot back, to the request that has waited longest."""
        waiting = self._waiting.get(address)
        while waiting:
            turn = waiting.popleft()
            if not waiting:
                del self._waiting[address]
            if not turn.done():
                turn.set_result(None)
                return
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]

    def _forget(self, address: str, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(address)
        if waiting is not None:
            with suppress(ValueError):
                waiting.remove(turn)
            if not waiting:
                del self._waiting[address]


class AddressSlot:
    """The place of one request at an address; it may move to another address.

    Args:
        gate: gate of the client.
    """

    def __init__(self, gate: AddressGate) -> None:
        self._gate = gate
        self.address: str | None = None

    async def move(self, address: str | None) -> None:
        """Take a slot of another address, and give the present one back before.

        A request that kept its slot while it waits could wait for itself.

        Args:
            address: IP address; None for a request that needs no slot.
        """
        if address == self.address:
            return
        self.leave()
        if address is not None:
            await self._gate.take(address)
            self.address = address

    def leave(self) -> None:
        """Give the slot back."""
        if self.address is not None:
            address, self.address = self.address, None
            self._gate.free(address)
