"""A worker sends few requests at once to one address, however many hosts are there."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.urltree.crawl.web.answers import HTML
from tests.urltree.crawl.web.routing.holding import HoldingServer, Names, holding, options, until
from urltree.crawl.decisions.response import Response, Trouble, WebError
from urltree.crawl.web import client as clients
from urltree.crawl.web.client import WebClient
from urltree.crawl.web.routing.address_gate import AddressGate, AddressSlot

CROWDED, FREE, DEAD = "127.0.0.3", "127.0.0.4", "127.0.0.9"


@asynccontextmanager
async def client_for(
    server: HoldingServer, table: Mapping[str, Sequence[str]], **change: object
) -> AsyncIterator[WebClient]:
    """Open a client that finds the hosts of a table at the addresses of a server."""
    async with WebClient(options(**change)) as client:
        client._routes._resolver = Names(server.port, table)
        yield client


async def get(client: WebClient, host: str) -> Response:
    """Request a page of a host."""
    return await client.get(f"http://{host}/page", max_bytes=1_000)


def test_fifty_hosts_at_one_address_get_eight_requests_at_once() -> None:
    """Of fifty hosts at one address, eight are asked at once; hosts elsewhere do not wait."""

    async def run() -> None:
        crowd = [f"h{n}.example" for n in range(50)]
        table = dict.fromkeys(crowd, (CROWDED,)) | {f"f{n}.example": (FREE,) for n in range(20)}
        async with (
            holding(CROWDED, FREE, free=[FREE]) as server,
            client_for(server, table) as client,
        ):
            waiting = [asyncio.create_task(get(client, host)) for host in crowd]
            await until(lambda: server.at_once[CROWDED] == 8)
            await asyncio.gather(*(get(client, host) for host in table if host[0] == "f"))
            assert len(server.hosts[FREE]) == 20
            assert server.hosts[CROWDED] == crowd[:8]
            server.release(CROWDED)
            answers = await asyncio.gather(*waiting)
            assert [answer.body for answer in answers] == [HTML] * 50
            assert server.most_at_once[CROWDED] == 8
            assert sorted(server.hosts[CROWDED]) == sorted(crowd)
            assert client._addresses.taken(CROWDED) == 0

    asyncio.run(run())


def test_slots_are_given_in_the_order_of_the_requests() -> None:
    """With one request at once, the hosts are asked in the order in which they began to wait."""

    async def run() -> None:
        crowd = [f"h{n}.example" for n in range(10)]
        async with (
            holding(CROWDED) as server,
            client_for(server, dict.fromkeys(crowd, (CROWDED,)), requests_per_address=1) as client,
        ):
            waiting = [asyncio.create_task(get(client, host)) for host in crowd]
            await until(lambda: server.at_once[CROWDED] == 1)
            waiting[3].cancel()
            server.release(CROWDED)
            await asyncio.wait(waiting)
            assert server.hosts[CROWDED] == crowd[:3] + crowd[4:]
            assert server.most_at_once[CROWDED] == 1

    asyncio.run(run())


def test_an_address_that_refuses_gives_its_slot_to_the_next() -> None:
    """If the first address refuses, the request waits for a slot of the second address."""

    async def run() -> None:
        table = {"a.example": [CROWDED], "b.example": [DEAD, CROWDED]}
        async with (
            holding(CROWDED) as server,
            client_for(server, table, requests_per_address=1) as client,
        ):
            first = asyncio.create_task(get(client, "a.example"))
            await until(lambda: server.at_once[CROWDED] == 1)
            second = asyncio.create_task(get(client, "b.example"))
            await until(lambda: CROWDED in client._addresses._waiting)
            assert client._addresses.taken(DEAD) == 0
            server.release(CROWDED)
            assert [(await first).status, (await second).status] == [200, 200]
            assert server.most_at_once[CROWDED] == 1
            found = await client._routes._resolve("b.example", 80)
            assert [one["host"] for one in found] == [CROWDED, DEAD]  # the dead one is tried last

    asyncio.run(run())


def test_a_host_without_an_address_that_works_is_an_error() -> None:
    """If all addresses refuse, the error is that of the last one, and no slot is left taken."""

    async def run() -> None:
        async with (
            holding(CROWDED) as server,
            client_for(server, {"a.example": [DEAD, "127.0.0.10"]}) as client,
        ):
            with pytest.raises(WebError) as raised:
                await get(client, "a.example")
            assert raised.value.trouble is Trouble.CONNECT
            assert not client._addresses._taken

    asyncio.run(run())


def test_a_kept_connection_to_another_address_is_not_used() -> None:
    """If a name moves to another address, the kept connection to the old one is not reused."""

    async def run() -> None:
        table = {"a.example": [CROWDED]}
        async with (
            holding(CROWDED, FREE, free=[CROWDED, FREE]) as server,
            client_for(server, table) as client,
        ):
            await get(client, "a.example")
            client._routes._resolver = Names(server.port, {"a.example": [FREE]})
            client._routes._cache.clear()
            await get(client, "a.example")
            await get(client, "a.example")
            assert {address: len(hosts) for address, hosts in server.hosts.items()} == {
                CROWDED: 1,
                FREE: 2,
            }

    asyncio.run(run())


def test_a_slot_may_be_taken_before() -> None:
    """In the context of `slot`, `get` uses the slot that was taken, and moves it if it must."""

    async def run() -> None:
        table = {"a.example": [CROWDED], "b.example": [CROWDED], "c.example": [FREE]}
        async with (
            holding(CROWDED, FREE, free=[CROWDED, FREE]) as server,
            client_for(server, table, requests_per_address=1) as client,
        ):
            taken = client._addresses.taken
            async with client.slot("http://a.example/page"):
                assert (taken(CROWDED), server.hosts) == (1, {})
                await get(client, "a.example")
                await get(client, "b.example")
                assert (taken(CROWDED), taken(FREE)) == (1, 0)
                await get(client, "c.example")
                assert (taken(CROWDED), taken(FREE)) == (0, 1)
            assert (taken(CROWDED), taken(FREE)) == (0, 0)

    asyncio.run(run())


def test_two_requests_do_not_share_a_slot() -> None:
    """While a request uses the slot of the context, a second request takes a slot of its own."""

    async def run() -> None:
        table = {name: [CROWDED] for name in ("a.example", "b.example", "c.example")}
        async with (
            holding(CROWDED) as server,
            client_for(server, table, requests_per_address=2) as client,
        ):
            async with client.slot("http://a.example/page"):
                tasks = [asyncio.create_task(get(client, host)) for host in table]
                await until(lambda: CROWDED in client._addresses._waiting)
                assert client._addresses.taken(CROWDED) == 2
                server.release(CROWDED)
                await asyncio.gather(*tasks)
            assert server.most_at_once[CROWDED] == 2
            assert not client._addresses._taken

    asyncio.run(run())


@pytest.mark.parametrize(
    ("url", "trouble"),
    [("http://none.example/", Trouble.DNS), ("http://10.0.0.1/", Trouble.REFUSED_ADDRESS)],
)
def test_the_error_of_a_slot_is_that_of_the_request(url: str, trouble: Trouble) -> None:
    """A name that cannot be resolved is an error of `get`, not of `slot`."""

    async def run() -> None:
        async with holding(FREE) as server, client_for(server, {}) as client, client.slot(url):
            with pytest.raises(WebError) as raised:
                await client.get(url, max_bytes=1)
            assert raised.value.trouble is trouble

    asyncio.run(run())


def test_the_wait_for_a_slot_is_outside_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time limit of the request begins before the request has its slot."""
    began: list[str] = []
    within = clients._within

    def record(seconds: float, failing: str) -> object:
        began.append(failing)
        return within(seconds, failing)

    async def run() -> None:
        async with (
            holding(CROWDED, free=[CROWDED]) as server,
            client_for(server, {"a.example": [CROWDED]}, requests_per_address=1) as client,
        ):
            await client._addresses.take(CROWDED)
            monkeypatch.setattr(clients, "_within", record)
            waiting = asyncio.create_task(get(client, "a.example"))
            await until(lambda: CROWDED in client._addresses._waiting)
            assert began == []
            client._addresses.free(CROWDED)
            assert (await waiting).status == 200
            assert len(began) == 2

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(5))
def test_slots_are_neither_lost_nor_doubled(seed: int) -> None:
    """Whenever waiting and running requests are cancelled, at most `at_once` of them run."""
    draw = random.Random(seed)
    running: dict[str, int] = dict.fromkeys("abc", 0)

    async def request(gate: AddressGate) -> None:
        slot = AddressSlot(gate)
        try:
            for address in draw.sample("abc", 2):
                await slot.move(address)
                running[address] += 1
                try:
                    assert running[address] <= 3
                    for _ in range(draw.randrange(4)):
                        await asyncio.sleep(0)
                finally:
                    running[address] -= 1
        finally:
            slot.leave()

    async def run() -> None:
        gate = AddressGate(3)
        tasks = [asyncio.create_task(request(gate)) for _ in range(200)]
        while pending := [task for task in tasks if not task.done()]:
            if draw.random() < 0.3:
                draw.choice(pending).cancel()
            await asyncio.sleep(0)
        assert all(task.cancelled() or task.exception() is None for task in tasks)
        assert not gate._taken
        assert not gate._waiting

    asyncio.run(run())
