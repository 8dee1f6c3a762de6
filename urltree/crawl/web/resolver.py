"""Name resolution with rules that replace addresses, like curl's option --connect-to.

Host header, TLS server name and URL stay the same. A URL whose host is an IP address needs no name
resolution, so the rules do not apply to it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

# A dead name server blocks a thread for 10 s or more. With asyncio's own pool of 6 threads (on 2
# cores), a few such names would block all others.
_THREADS = 64


class _Rule(NamedTuple):
    host: str
    port: str
    to_host: str
    to_port: str


class Resolver(AbstractResolver):
    """The resolver of the operating system, after the rules of `connect_to`.

    Args:
        rules: HOST1:PORT1:HOST2:PORT2. An empty HOST1 or PORT1 matches any; an empty HOST2 or PORT2
            keeps the original. The first matching rule applies.
    """

    def __init__(self, rules: Sequence[str] = ()) -> None:
        self._rules = tuple(_Rule(*rule.lower().split(":")) for rule in rules)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolve")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return addresses and ports to connect to.

        Raises:
            OSError: the name has no address, or is not a valid name.
        """
        to_host, to_port = self._mapped(host, port)
        look_up = partial(
            socket.getaddrinfo,
            *(to_host, to_port, family, socket.SOCK_STREAM),
            flags=socket.AI_ADDRCONFIG,
        )
        try:
            infos = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        except UnicodeError as error:  # labels that are empty or too long
            raise OSError(socket.EAI_NONAME, str(error)) from None
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=int(address[1]),
                family=family,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for family, _, protocol, _, address in infos
        ]

    async def close(self) -> None:
        """Stop the threads without waiting for pending name servers."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _mapped(self, host: str, port: int) -> tuple[str, int]:
        for rule in self._rules:
            if rule.host in ("", host.lower()) and rule.port in ("", str(port)):
                return rule.to_host or host, int(rule.to_port or port)
        return host, port
