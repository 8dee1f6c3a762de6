"""The settings of `poll` and `fetch`: how often feeds are polled, and how polite requests are."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, field_validator, model_validator
from pydantic_settings import NoDecode

from urltree.crawl.decisions.host.host_state import Politeness
from urltree.crawl.decisions.host.page.reservations import Signal
from urltree.crawl.web.credentials import is_credentials_name
from urltree.crawl.web.options import ClientOptions, Network
from urltree.crawl.web.routing.proxy import ProxyExceptions, parse_proxy

MIB = 1024 * 1024


class FeedSettings(BaseModel):
    """The part of `agents.settings.job.Settings` for the stages that send requests to the web."""

    contact: str | None = Field(
        None,
        pattern=r"^[\x21-\x7e]{3,200}$",
        description="E-mail or web address at which owners of sites can reach you. It is sent in "
        "the User-Agent. `poll` and `fetch` do not start without it.",
    )
    interval_min: float = Field(
        900, gt=0, description="Shortest time between two polls of a feed, in seconds."
    )
    interval_max: float = Field(
        21_600, gt=0, description="Longest time between two polls of a feed, in seconds."
    )
    polls_at_once: int = Field(
        1_000,
        gt=0,
        description="Largest number of feeds for whose answers a worker of `poll` waits.",
    )
    parsers: int = Field(1, gt=0, description="Number of a worker's processes that parse feeds.")
    parse_seconds: float = Field(
        20,
        gt=0,
        description="Longest time for parsing a feed, in seconds. If parsing takes longer, the "
        "poll fails.",
    )
    max_feed_bytes: int = Field(
        10 * MIB,
        gt=0,
        description="Largest size of a feed after decompression, in bytes. Only the beginning "
        "of a larger feed is read.",
    )
    max_feed_items: int = Field(
        1_000,
        gt=0,
        description="Largest number of items that are read from a feed. Further items are ignored.",
    )
    quarantine_errors: int = Field(
        20,
        gt=0,
        description="Number of consecutive errors after which a feed is polled only once a day.",
    )
    seen_days: float = Field(
        60,
        gt=0,
        description="Time after which an item that no longer appears in its feed is deleted from "
        "the table `seen_items`, in days. The row of an item that still appears is written again "
        "after half of this time.",
    )

    first_poll_days: float = Field(
        2.0,
        ge=0,
        description="Largest age of the pages that the first poll of a sitemap takes, in days. "
        "Older pages count as seen.",
    )
    revisits_a_day: int = Field(
        5,
        ge=0,
        description="Largest number of pages of a feed that are fetched again in a day because "
        "their items have changed. It counts only if `revisits` is `replace`.",
    )

    host_pause: float = Field(
        1.0, ge=0, description="Shortest pause between two requests to a host, in seconds."
    )
    host_pause_max: float = Field(
        60,
        ge=0,
        description="Longest pause between two requests to a host, in seconds, even if its "
        "latency or Crawl-delay would require a longer pause.",
    )
    latency_factor: float = Field(
        2.0,
        ge=0,
        description="Pause after a response, as a multiple of the time that the response took.",
    )
    fetches_at_once: int = Field(
        100, gt=0, description="Largest number of pages that a worker fetches at the same time."
    )
    fetch_window: int = Field(
        2_000,
        gt=0,
        description="Largest number of records of the topic fetches that a worker keeps in memory.",
    )
    fetch_attempts: int = Field(
        6, gt=0, description="Number of failed attempts after which a page becomes a dead letter."
    )
    park_seconds: float = Field(
        60,
        gt=0,
        description="Longest time for which a page waits in memory for its host, in seconds. A "
        "page that must wait longer is sent to the end of the topic fetches.",
    )
    connect_seconds: float = Field(
        10,
        gt=0,
        description="Longest time for the DNS lookup, the connection and the TLS handshake "
        "together, in seconds.",
    )
    header_seconds: float = Field(
        20,
        gt=0,
        description="Longest time from the start of a request to the end of the response's "
        "headers, in seconds.",
    )
    read_seconds: float = Field(
        20,
        gt=0,
        description="Longest time without a byte of the body, in seconds. After that the request "
        "fails.",
    )
    total_seconds: float = Field(
        60, gt=0, description="Longest time for a whole request, in seconds."
    )
    max_header_bytes: int = Field(
        32 * 1024, gt=0, description="Largest size of the headers of a response, in bytes."
    )
    max_redirects: int = Field(
        10,
        ge=0,
        le=20,
        description="Largest number of redirects that are followed for a page or a feed.",
    )
    robots_days: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Time for which a robots.txt is used before it is requested again, in days.",
    )
    obey_signals: Annotated[tuple[Signal, ...], NoDecode] = Field(
        (),
        description="Reservations of publishers that are obeyed: noindex, noarchive, noai, tdm, "
        "separated by commas. A reserved page becomes a dead letter with the reason `reserved`.",
    )
    allow_networks: Annotated[tuple[Network, ...], NoDecode] = Field(
        (),
        description="Private networks to which requests are allowed, such as 10.1.0.0/16, "
        "separated by commas.",
    )
    connect_to: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Rules HOST1:PORT1:HOST2:PORT2 as in curl's --connect-to, separated by commas: "
        "requests to HOST1:PORT1 are sent to HOST2:PORT2. An empty HOST1 matches every host, an "
        "empty PORT1 every port.",
    )
    fetch_ca_file: Path | None = Field(
        None,
        description="PEM file with the certificate authorities that are trusted for sites. By "
        "default those of the system are trusted.",
    )
    requests_per_address: int = Field(
        8,
        gt=0,
        description="Largest number of requests that a worker sends to one IP address at the same "
        "time. It does not apply behind a proxy.",
    )
    requests_per_domain: int = Field(
        4,
        gt=0,
        description="Largest number of requests that a worker sends to all hosts of a domain at "
        "the same time. Here, a domain is one label below a public suffix of the ICANN section of "
        "the Public Suffix List, so all blogs of blogspot.com are one domain.",
    )
    requests_per_domain_second: float = Field(
        10,
        gt=0,
        description="Largest number of requests that a worker sends to all hosts of such a domain "
        "in a second.",
    )
    credentials_dir: Path | None = Field(
        None,
        description="Directory of the files with the credentials of feeds and of the proxy. A "
        "file has one line: `user:password` or `Bearer TOKEN`. It is read at each request.",
    )
    proxy: str | None = Field(
        None,
        description="URL of the proxy for all requests to the web, such as "
        "http://proxy.example:3128, without user name and password. The worker still resolves all "
        "names, and refuses private addresses. For https the proxy gets the checked address; for "
        "http it gets the name, so it should refuse private addresses, too.",
    )
    proxy_credentials: str | None = Field(
        None,
        description="Name of the file in `credentials_dir` with the credentials of the proxy.",
    )
    no_proxy: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Hosts, domains and networks that are requested without the proxy, such as "
        "example.org or 10.0.0.0/8, separated by commas. A domain stands for all its hosts.",
    )

    @property
    def politeness(self) -> Politeness:
        """Rules for the pause between two requests to a host."""
        return Politeness(self.host_pause, self.host_pause_max, self.latency_factor)

    @property
    def client(self) -> ClientOptions:
        """Options of the HTTP client."""
        return ClientOptions(
            contact=self.contact,
            connect_seconds=self.connect_seconds,
            header_seconds=self.header_seconds,
            read_seconds=self.read_seconds,
            total_seconds=self.total_seconds,
            max_header_bytes=self.max_header_bytes,
            allow_networks=self.allow_networks,
            connect_to=self.connect_to,
            ca_file=self.fetch_ca_file,
            requests_per_address=self.requests_per_address,
            credentials_dir=self.credentials_dir,
            proxy=self.proxy,
            proxy_credentials=self.proxy_credentials,
            no_proxy=self.no_proxy,
        )

    @field_validator("allow_networks", mode="before")
    @classmethod
    def _networks(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = split_list(value)
        return tuple(ip_network(part) if isinstance(part, str) else part for part in value)

    @field_validator("obey_signals", mode="before")
    @classmethod
    def _signals(cls, value: Any) -> Any:
        return split_list(value) if isinstance(value, str) else tuple(value)

    @field_validator("connect_to", mode="before")
    @classmethod
    def _rules(cls, value: Any) -> Any:
        value = split_list(value) if isinstance(value, str) else tuple(value)
        if any(rule.count(":") != 3 for rule in value):
            raise ValueError("each rule should have the form HOST1:PORT1:HOST2:PORT2")
        return value

    @field_validator("proxy")
    @classmethod
    def _proxy_url(cls, value: str | None) -> str | None:
        return None if value is None else str(parse_proxy(value))

    @field_validator("proxy_credentials")
    @classmethod
    def _proxy_file(cls, value: str | None) -> str | None:
        if value is not None and not is_credentials_name(value):
            raise ValueError("the name should consist of letters, digits, '.', '_' and '-'")
        return value

    @model_validator(mode="after")
    def _proxy_files(self) -> Self:
        if self.proxy_credentials is not None and (not self.proxy or not self.credentials_dir):
            raise ValueError("proxy_credentials needs the settings proxy and credentials_dir")
        return self

    @field_validator("no_proxy", mode="before")
    @classmethod
    def _exceptions(cls, value: Any) -> Any:
        value = split_list(value) if isinstance(value, str) else tuple(value)
        ProxyExceptions(value)  # raises an error for an invalid rule
        return value


def split_list(text: str) -> tuple[str, ...]:
    """Split a text at its commas, and drop surrounding spaces and empty parts."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
