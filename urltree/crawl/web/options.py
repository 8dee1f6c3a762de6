"""Options of the HTTP client: identity, time limits, size limits, and permitted networks."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Values that a `WebClient` needs; the job takes them from its settings.

    Attributes:
        contact: address at which site owners reach the operator; the User-Agent contains it.
        connect_seconds: limit for name resolution, connection and TLS together.
        header_seconds: limit from the start of the request until all headers are read.
        read_seconds: limit for the time in which no byte of the body is received.
        total_seconds: limit for the complete response.
        max_header_bytes: limit for all headers of a response together.
        allow_networks: networks to which requests are allowed although they are not public.
        connect_to: rules HOST1:PORT1:HOST2:PORT2, like curl's option --connect-to.
        ca_file: file of the certificates to trust; None trusts those of the operating system.
        requests_per_address: largest number of simultaneous requests to one IP address; it does not
            apply behind a proxy.
        credentials_dir: directory of the files that contain credentials (`credentials.py`).
        proxy: URL of the proxy for all requests (`routing/proxy.py`); None if there is none.
        proxy_credentials: name of the file with the credentials of the proxy.
        no_proxy: hosts, domains and networks that are requested without the proxy.
    """

    contact: str | None = None
    connect_seconds: float = 10
    header_seconds: float = 20
    read_seconds: float = 20
    total_seconds: float = 60
    max_header_bytes: int = 32 * 1024
    allow_networks: tuple[Network, ...] = ()
    connect_to: tuple[str, ...] = ()
    ca_file: Path | None = None
    requests_per_address: int = 8
    credentials_dir: Path | None = None
    proxy: str | None = None
    proxy_credentials: str | None = None
    no_proxy: tuple[str, ...] = ()
