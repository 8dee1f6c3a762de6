"""The settings of `poll` and `fetch`: how often feeds are polled, and how polite requests are."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import NoDecode

from urltree.crawl.decisions.host.host_state import Politeness
from urltree.crawl.web.options import ClientOptions, Network

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
    polls_at_once: int = Field(50, gt=0, description="Feeds that a worker polls at the same time.")
    parsers: int = Field(1, gt=0, description="Processes of a worker that parse feeds.")
    parse_seconds: float = Field(
        20, gt=0, description="Seconds for parsing a feed. A feed that takes longer is an error."
    )
    max_feed_bytes: int = Field(
        10 * MIB, gt=0, description="Largest feed after decompression, in bytes."
    )
    max_feed_items: int = Field(
        1_000, gt=0, description="Items of a feed that are read; the others are ignored."
    )
    quarantine_errors: int = Field(
        20,
        gt=0,
        description="Consecutive errors after which a feed is polled only once a day.",
    )
    seen_days: float = Field(
        60,
        gt=0,
        description="Days after which an item that no longer appears in its feed is forgotten. "
        "The row of an item that still appears is renewed at half of this time.",
    )

    host_pause: float = Field(
        1.0, ge=0, description="Shortest pause between two requests to a host, in seconds."
    )
    host_pause_max: float = Field(
        60,
        ge=0,
        description="Longest pause between two requests to a host, in seconds, even if its "
        "latency or Crawl-delay asks for more.",
    )
    latency_factor: float = Field(
        2.0,
        ge=0,
        description="Pause after a response, as a multiple of the time that the response took.",
    )
    fetches_at_once: int = Field(
        100, gt=0, description="Pages that a worker fetches at the same time."
    )
    fetch_window: int = Field(
        2_000, gt=0, description="Records of fetches that a worker keeps in memory."
    )
    fetch_attempts: int = Field(
        6, gt=0, description="Failed attempts after which a page becomes a dead letter."
    )
    park_seconds: float = Field(
        60,
        gt=0,
        description="A page that must wait longer than these seconds for its host is sent to the "
        "end of the topic fetches.",
    )
    connect_seconds: float = Field(
        10, gt=0, description="Seconds for the DNS lookup, the connection and the TLS handshake."
    )
    header_seconds: float = Field(
        20, gt=0, description="Seconds until the headers of a response have arrived."
    )
    read_seconds: float = Field(
        20, gt=0, description="Seconds without any byte of the body after which a request fails."
    )
    total_seconds: float = Field(60, gt=0, description="Seconds for a whole request.")
    max_header_bytes: int = Field(
        32 * 1024, gt=0, description="Largest headers of a response, in bytes."
    )
    max_redirects: int = Field(
        10, ge=0, le=20, description="Redirects that are followed for a page or a feed."
    )
    robots_days: float = Field(
        1.0, gt=0, le=1, description="Days for which a robots.txt is kept before it is read again."
    )
    allow_networks: Annotated[tuple[Network, ...], NoDecode] = Field(
        (),
        description="Private networks to which requests are allowed, such as 10.1.0.0/16, "
        "separated by commas.",
    )
    connect_to: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Rules HOST1:PORT1:HOST2:PORT2 as in curl's --connect-to, separated by commas: "
        "requests to HOST1:PORT1 are sent to HOST2:PORT2. An empty HOST1 or PORT1 matches any.",
    )
    fetch_ca_file: Path | None = Field(
        None,
        description="PEM file of the certificate authorities that sites' certificates are checked "
        "against. Default: the system's.",
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
        )

    @field_validator("allow_networks", mode="before")
    @classmethod
    def _networks(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = split_list(value)
        return tuple(ip_network(part) if isinstance(part, str) else part for part in value)

    @field_validator("connect_to", mode="before")
    @classmethod
    def _rules(cls, value: Any) -> Any:
        value = split_list(value) if isinstance(value, str) else tuple(value)
        if any(rule.count(":") != 3 for rule in value):
            raise ValueError("each rule should have the form HOST1:PORT1:HOST2:PORT2")
        return value


def split_list(text: str) -> tuple[str, ...]:
    """Split a text at its commas, and drop surrounding spaces and empty parts."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
