"""Name resolution with rules that replace addresses, like curl's option --connect-to.

The rules do not change the Host header, the TLS server name and the URL. They do not apply to a URL
whose host is an IP address, because it needs no name resolution.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

# A name server that does not respond blocks a thread for 10 s or more. asyncio's own pool has 6
# threads on 2 cores, so a few such names would delay the resolution of all others.
_THREADS = 64


class _Rule(NamedTuple):
    host: str
    port: str
    to_host: str
    to_port: str


class Resolver(AbstractResolver):
    """A resolver that applies the rules, and then calls the resolver of the operating system.

    Args:
        rules: rules in the form HOST1:PORT1:HOST2:PORT2; the first rule that matches applies.
            An empty HOST1 or PORT1 matches any value; an empty HOST2 or PORT2 keeps the original.
    """

    def __init__(self, rules: Sequence[str] = ()) -> None:
        self._rules = tuple(_Rule(*rule.lower().split(":")) for rule in rules)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolve")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses and ports to connect to for a host and port.

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
        except UnicodeError as error:  # a label of the name is empty or too long
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
        """Stop the threads without waiting for name servers that have not responded."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _mapped(self, host: str, port: int) -> tuple[str, int]:
        for rule in self._rules:
            if rule.host in ("", host.lower()) and rule.port in ("", str(port)):
                return rule.to_host or host, int(rule.to_port or port)
        return host, port
