"""Every setting of the job, in one typed class: from the environment, from a file, or default.

`URLTREE_BROKERS=…` sets `brokers`. `URLTREE_SETTINGS=FILE` names a YAML file with the same names
in lower case; the environment wins over it. A password is better read from a file that only the
worker can read: `URLTREE_SASL_PASSWORD_FILE=…`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from agents.settings.feeds import MIB, FeedSettings
from agents.settings.kafka import KafkaSettings
from urltree.address.url_key import Query
from urltree.enrich.fallback import SinglePage, require_extractor
from urltree.enrich.metadata import require_metadata_libraries
from urltree.heuristics.registry import DEFAULT, heuristic
from urltree.page import microseconds
from urltree.site.revisits import Revisits
from urltree.tree.window import DAY, Eviction

PREFIX = "URLTREE_"
FILE = "URLTREE_SETTINGS"


class SettingsError(Exception):
    """A setting is wrong: one sentence for the person who set it."""


class Settings(FeedSettings, KafkaSettings, BaseSettings):
    """The settings of a worker; its commands read the same ones."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    prefix: str = Field(
        "",
        pattern=r"^[a-zA-Z0-9._-]{0,100}$",
        description="Stands before the name of every topic and consumer group.",
    )
    topics_file: Path = Field(
        Path(__file__).parents[2] / "topics.yaml",
        description="Declares every topic; a worker refuses to start where they differ.",
    )
    topics_replicas: int | None = Field(
        None,
        gt=0,
        description="Replicas of every topic, instead of the file's; from three on "
        "min.insync.replicas is one fewer, unless the file says another.",
    )
    data_dir: Path = Field(Path("data"), description="Where a worker keeps its tables on disk.")

    heuristic: str = Field(DEFAULT, description="Decides what is boilerplate.")
    evict: bool = Field(default=True, description="Whether old documents leave the tree.")
    max_documents: int = Field(10_000, description="Documents that a domain keeps at most.")
    max_age_days: float = Field(14, description="Documents older than that leave.")
    keep: int = Field(100, description="The most recent documents that always stay.")
    revise: bool = Field(default=True, description="Whether first pages are judged again.")
    blocks: Literal["none", "content", "all"] = Field(
        "none", description="Which blocks clean-text lists beside the text."
    )
    markdown: bool = Field(default=False, description="Whether clean-text has Markdown, too.")
    metadata: bool = Field(
        default=False, description="Whether date, author, description and language are looked for."
    )

    single_page: SinglePage = Field("none", description="Extractor asked about first pages.")
    revisits: Revisits = Field("drop", description="Whether a changed page supersedes its former.")
    query: Query = Field(
        "known-noise", description="What a URL key loses of a query where no rule applies."
    )
    rules: Path | None = Field(None, description="YAML file of your own rules for queries.")
    shared_hosts: Path | None = Field(
        None, description="File of hosts whose subdomains are sites of their own, one a line."
    )
    rules_since: str | None = Field(
        None,
        description="RFC 3339 time from which rules, query and shared_hosts count; before it the "
        "former_ ones do, and `seen` is read under both for its horizon.",
    )
    former_query: Query = Field("known-noise", description="`query` before rules_since.")
    former_rules: Path | None = Field(None, description="`rules` before rules_since.")
    former_shared_hosts: Path | None = Field(None, description="`shared_hosts` before rules_since.")

    max_page_bytes: int = Field(
        10 * MIB, gt=0, description="HTML beyond it makes a page a dead letter, too-large."
    )
    max_record_bytes: int = Field(
        20 * MIB - 64 * 1024,
        gt=0,
        description="Largest record that is published; max.message.bytes of the topics is above.",
    )
    max_row_bytes: int = Field(
        MIB, gt=0, description="Largest row that is stored of a document; beyond it: too-large."
    )
    trees_bytes: int = Field(
        512 * MIB, gt=0, description="Memory for the trees of domains; the least recent ones go."
    )
    horizons: int = Field(
        50_000, gt=0, description="Domains whose newest times `normalize` keeps in memory."
    )
    block_cache_bytes: int = Field(
        16 * MIB, gt=0, description="RocksDB's cache, for each partition of a table."
    )
    in_flight: int = Field(
        500, gt=0, description="Records in work at once, waiting for Kafka's confirmation."
    )
    in_flight_bytes: int = Field(
        32 * MIB, gt=0, description="Bytes of those records, and of what is sent for them."
    )

    commit_seconds: float = Field(2.0, gt=0, description="How often offsets are committed.")
    delivery_seconds: float = Field(
        30.0, gt=0, description="Within it Kafka confirms a record, or the worker ends and replays."
    )
    stall_seconds: float = Field(
        120.0, gt=0, description="The worker ends if records wait that long and none is done."
    )
    session_seconds: float = Field(
        15.0, gt=1, description="A worker silent for that long loses its partitions."
    )
    shutdown_seconds: float = Field(
        25.0, gt=0, description="What is in work ends within it on SIGTERM; else it is replayed."
    )
    instance_id: str | None = Field(
        None, description="Static membership: a restart within session_seconds moves nothing."
    )
    disk_days: float = Field(
        6.0,
        gt=0,
        description="A partition's disk unused for longer is wiped and restored; below the "
        "changelogs' delete.retention.ms, or deleted rows would come back.",
    )

    web_host: str = Field("127.0.0.1", description="Where /livez, /readyz and /metrics listen.")
    web_port: int = Field(
        0, ge=0, le=65_535, description="Their port; 0 takes a free one and logs it."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least important lines that are logged."
    )
    log_format: Literal["text", "json"] = Field("text", description="How a line looks.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        heuristic(self.heuristic)
        _ = self.eviction
        if self.metadata:
            require_metadata_libraries()
        require_extractor(self.single_page)
        if self.rules_since is not None:
            microseconds(self.rules_since)
        return self

    @property
    def eviction(self) -> Eviction | None:
        """When documents leave their domain's window."""
        if not self.evict:
            return None
        return Eviction(self.max_documents, int(self.max_age_days * DAY), self.keep)

    def topic(self, name: str) -> str:
        """A topic's name with the prefix."""
        return self.prefix + name

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the file."""
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        if FILE in os.environ:
            sources.append(YamlConfigSettingsSource(settings_cls, yaml_file=os.environ[FILE]))
        return tuple(sources)


def load() -> Settings:
    """The settings of this process.

    Raises:
        SettingsError: naming the first setting that is wrong.
    """
    defaults = {}
    if "URLTREE_BROKERS" not in os.environ and "KAFKA_BROKERS" in os.environ:
        defaults["brokers"] = os.environ["KAFKA_BROKERS"]
    if FILE in os.environ and not Path(os.environ[FILE]).is_file():
        raise SettingsError(f"{FILE} should name a file, there is no {os.environ[FILE]}")
    try:
        return Settings(**defaults)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        raise SettingsError(f"{name}: {first['msg']}") from None
    except (OSError, ValueError) as error:
        raise SettingsError(str(error)) from None


def unknown() -> list[str]:
    """Variables that look like settings and are none: misspelt, or another program's."""
    known = {PREFIX + name.upper() for name in Settings.model_fields} | {FILE}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
