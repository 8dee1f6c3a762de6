"""The settings of `poll` and `fetch`: how often feeds are asked, and how politely pages."""

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
    """What `agents.settings.job.Settings` has for the two stages that ask the web."""

    contact: str | None = Field(
        None,
        pattern=r"^[\x21-\x7e]{3,200}$",
        description="Where owners of sites reach you, an address of mail or web; stands in the "
        "User-Agent. `poll` and `fetch` do not start without it.",
    )
    interval_min: float = Field(
        900, gt=0, description="Seconds between two polls of a feed, at least."
    )
    interval_max: float = Field(21_600, gt=0, description="And at most.")
    polls_at_once: int = Field(50, gt=0, description="Feeds that a worker polls at once.")
    parsers: int = Field(1, gt=0, description="Processes of a worker that parse feeds.")
    parse_seconds: float = Field(20, gt=0, description="A feed that takes longer is an error.")
    max_feed_bytes: int = Field(10 * MIB, gt=0, description="Largest feed, decompressed.")
    max_feed_items: int = Field(1_000, gt=0, description="Items of a feed that are looked at.")
    quarantine_errors: int = Field(
        20, gt=0, description="Errors in a row after which a feed is probed once a day only."
    )
    seen_days: float = Field(
        60,
        gt=0,
        description="An item is forgotten that long after it was last seen; at half of "
        "it the row is written again.",
    )

    host_pause: float = Field(
        1.0, ge=0, description="Seconds between two requests to a host, at least."
    )
    host_pause_max: float = Field(
        60, ge=0, description="And at most, whatever latency or Crawl-delay say."
    )
    latency_factor: float = Field(
        2.0, ge=0, description="A host rests for so many times what its last answer took."
    )
    fetches_at_once: int = Field(100, gt=0, description="Pages that a worker fetches at once.")
    fetch_window: int = Field(
        2_000, gt=0, description="Records of fetches that a worker holds at once."
    )
    fetch_attempts: int = Field(6, gt=0, description="Tries after which a page is a dead letter.")
    park_seconds: float = Field(
        60, gt=0, description="A page whose turn is further off is sent to the end of the queue."
    )
    connect_seconds: float = Field(10, gt=0, description="For a name, a connection and TLS.")
    header_seconds: float = Field(20, gt=0, description="Until the headers of an answer are there.")
    read_seconds: float = Field(20, gt=0, description="Without a byte of the body.")
    total_seconds: float = Field(60, gt=0, description="For an answer as a whole.")
    max_header_bytes: int = Field(32 * 1024, gt=0, description="Headers of an answer.")
    max_redirects: int = Field(10, ge=0, le=20, description="Redirects of a page or a feed.")
    robots_days: float = Field(1.0, gt=0, le=1, description="How long a robots.txt is valid.")
    allow_networks: Annotated[tuple[Network, ...], NoDecode] = Field(
        (),
        description="Networks that may be asked although they are not global, such as "
        "10.1.0.0/16, separated by commas.",
    )
    connect_to: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="As curl's: HOST1:PORT1:HOST2:PORT2, separated by commas; where HOST1 or PORT1 "
        "is empty it means any.",
    )
    fetch_ca_file: Path | None = Field(
        None, description="Certificates that sign those of sites; else the system's."
    )

    @property
    def politeness(self) -> Politeness:
        """How long a host rests after it was asked."""
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
            value = parts(value)
        return tuple(ip_network(part) if isinstance(part, str) else part for part in value)

    @field_validator("connect_to", mode="before")
    @classmethod
    def _rules(cls, value: Any) -> Any:
        value = parts(value) if isinstance(value, str) else tuple(value)
        if any(rule.count(":") != 3 for rule in value):
            raise ValueError("should be HOST1:PORT1:HOST2:PORT2")
        return value


def parts(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
