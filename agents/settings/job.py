"""All settings of the job in one typed class, read from the environment or from a file.

`URLTREE_BROKERS=…` sets `brokers`. `URLTREE_SETTINGS=FILE` names a YAML file with settings under
their names in lower case; an environment variable overrides the file. Put a password into a file
that only the worker can read, and name the file, as in `URLTREE_SASL_PASSWORD_FILE=…`.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

from agents.settings.feeds import MIB, FeedSettings
from agents.settings.header_keys import HeaderSettings
from agents.settings.kafka import KafkaSettings
from urltree.address.url_key import Query
from urltree.enrich.fallback import SinglePage
from urltree.page import microseconds
from urltree.pipeline import EVICTION, Options, help_of
from urltree.site.revisits import Revisits
from urltree.tree.window import DAY, Eviction

PREFIX = "URLTREE_"
FILE = "URLTREE_SETTINGS"
CACHE = "URLTREE_CACHE"  # folder for downloads of the demo and the tests, not a setting
DEFAULT = Options()

_SLIP = 2  # largest edit distance between a setting and a misspelt name

_PIPELINE = tuple(each.name for each in fields(Options) if each.name != "eviction")


class SettingsError(Exception):
    """A setting, or the state of Kafka, is wrong; the message is one sentence for the operator."""


class Settings(FeedSettings, HeaderSettings, KafkaSettings, BaseSettings):
    """Settings of a worker; the operator commands read the same settings."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    prefix: str = Field(
        "",
        pattern=r"^[a-zA-Z0-9._-]{0,100}$",
        description="Prefix of the name of every topic and consumer group.",
    )
    topics_file: Path = Field(
        Path(__file__).parents[2] / "topics.yaml",
        description="YAML file that declares every topic. A worker refuses to start if the topics "
        "in Kafka differ from this file.",
    )
    topics_replicas: int | None = Field(
        None,
        gt=0,
        description="Number of replicas of every topic, instead of the number in topics_file. If "
        "it is 3 or more, min.insync.replicas is one less, unless topics_file sets it.",
    )
    accept_producer_times: bool = Field(
        default=False,
        description="Whether topics may keep the record times of producers, for a Kafka that "
        "does not allow message.timestamp.type=LogAppendTime. Kafka then deletes a page "
        "with an old record time before it is read, and no command can find the loss.",
    )
    data_dir: Path = Field(
        Path("data"), description="Directory in which a worker keeps its tables."
    )

    heuristic: str = Field(DEFAULT.heuristic, description=help_of("heuristic"))
    evict: bool = Field(
        default=True, description="Whether old documents are removed from the tree."
    )
    max_documents: int = Field(
        EVICTION.max_documents,
        description="Largest number of documents in the tree of a domain. If there are more, the "
        "oldest are removed.",
    )
    max_age_days: float = Field(
        EVICTION.max_age // DAY,
        description="Largest age of a document, in days. Older documents are removed from the "
        "tree.",
    )
    keep: int = Field(
        EVICTION.keep,
        description="Number of the newest documents of a domain that are never removed.",
    )
    revise: bool = Field(default=True, description=help_of("revise"))
    blocks: Literal["none", "content", "all"] = Field(
        "none",
        description="Which text blocks each record of the topic clean-text contains in addition "
        "to the text.",
    )
    markdown: bool = Field(DEFAULT.markdown, description=help_of("markdown"))
    metadata: bool = Field(DEFAULT.metadata, description=help_of("metadata"))
    single_page: SinglePage = Field(DEFAULT.single_page, description=help_of("single_page"))
    revisits: Revisits = Field(DEFAULT.revisits, description=help_of("revisits"))
    query: Query = Field(DEFAULT.query, description=help_of("query"))
    rules: Path | None = Field(None, description=help_of("rules"))
    shared_hosts: Path | None = Field(
        None,
        description="File of hosts whose subdomains are separate sites, one host per line. It "
        "extends the list that urltree ships.",
    )
    rules_since: str | None = Field(
        None,
        description="RFC 3339 time from which rules, query and shared_hosts apply. For pages with "
        "an earlier time, former_rules, former_query and former_shared_hosts apply. A page is "
        "searched in the table `seen` under its keys of both.",
    )
    former_query: Query = Field(
        "known-noise", description="Value of query for pages with a time before rules_since."
    )
    former_rules: Path | None = Field(
        None, description="Value of rules for pages with a time before rules_since."
    )
    former_shared_hosts: Path | None = Field(
        None, description="Value of shared_hosts for pages with a time before rules_since."
    )

    max_page_bytes: int = Field(
        10 * MIB,
        gt=0,
        description="Largest size of a page's HTML, in bytes. A larger page becomes a dead letter "
        "with the reason too-large.",
    )
    max_record_bytes: int = Field(
        20 * MIB - 64 * 1024,
        gt=0,
        description="Largest size of a published record, in bytes. The config max.message.bytes of "
        "the topics must be larger. A record that is read may have 1 MiB more after decompression; "
        "a larger one becomes a dead letter with the reason too-large, without its value.",
    )
    max_row_bytes: int = Field(
        MIB,
        gt=0,
        description="Largest size of the row of a document, in bytes. A document with a larger row "
        "becomes a dead letter with the reason too-large.",
    )
    trees_bytes: int = Field(
        512 * MIB,
        gt=0,
        description="Largest memory for the trees of all domains, in bytes (estimated). If the "
        "trees need more, the least recently used ones are dropped from memory.",
    )
    horizons: int = Field(
        50_000,
        gt=0,
        description="Largest number of domains whose horizon (newest document times) `normalize` "
        "keeps in memory.",
    )
    block_cache_bytes: int = Field(
        16 * MIB,
        gt=0,
        description="Size of RocksDB's block cache for each partition of a table, in bytes.",
    )
    in_flight: int = Field(
        500,
        gt=0,
        description="Largest number of records in flight: begun, but not yet confirmed by Kafka.",
    )
    in_flight_bytes: int = Field(
        32 * MIB,
        gt=0,
        description="Largest total size of the records in flight and of the records sent for them, "
        "in bytes.",
    )

    commit_seconds: float = Field(
        2.0, gt=0, description="Time between two commits of offsets, in seconds."
    )
    delivery_seconds: float = Field(
        30.0,
        gt=0,
        description="Longest time until Kafka confirms a record, in seconds. After that the worker "
        "exits, and the unfinished records are replayed.",
    )
    stall_seconds: float = Field(
        120.0,
        gt=0,
        description="Longest time in which records are in flight and none is finished, in seconds. "
        "After that the worker exits.",
    )
    session_seconds: float = Field(
        15.0,
        gt=1,
        description="Longest time without a heartbeat, in seconds. After that the worker loses its "
        "partitions.",
    )
    shutdown_seconds: float = Field(
        25.0,
        gt=0,
        description="Longest time after SIGTERM in which a worker finishes its records in flight, "
        "in seconds. Unfinished records are replayed.",
    )
    instance_id: str | None = Field(
        None,
        description="Id of the worker as a static member of its consumer group. A worker that "
        "restarts with the same id within session_seconds keeps its partitions.",
    )
    disk_days: float = Field(
        6.0,
        gt=0,
        description="Time after which an unused partition on disk is wiped and restored from its "
        "changelog, in days. It must be shorter than delete.retention.ms of the changelogs: "
        "otherwise deleted rows reappear.",
    )

    web_host: str = Field(
        "127.0.0.1", description="Address on which /livez, /readyz and /metrics listen."
    )
    web_port: int = Field(
        0,
        ge=0,
        le=65_535,
        description="Port of /livez, /readyz and /metrics. With 0 a worker takes a free port and "
        "logs it.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe level that is logged."
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="Format of a log line: key=value pairs or JSON."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.pipeline.check()
        if self.rules_since is not None:
            microseconds(self.rules_since)
        return self

    @property
    def eviction(self) -> Eviction | None:
        """Rule that removes old documents from a tree, or None if no document is removed."""
        if not self.evict:
            return None
        return Eviction(self.max_documents, int(self.max_age_days * DAY), self.keep)

    @property
    def pipeline(self) -> Options:
        """Options of the pipeline."""
        return Options(
            eviction=self.eviction,
            **{name: getattr(self, name) for name in _PIPELINE},
        )

    def topic(self, name: str) -> str:
        """Return a topic's name in Kafka, with the prefix."""
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
        """Read arguments first, then the environment, then the file."""
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        if FILE in os.environ:
            sources.append(YamlConfigSettingsSource(settings_cls, yaml_file=os.environ[FILE]))
        return tuple(sources)


def load_settings() -> Settings:
    """Return the settings of this process.

    Raises:
        SettingsError: A setting is invalid; the message names the first such setting.
    """
    defaults = {}
    if "URLTREE_BROKERS" not in os.environ and "KAFKA_BROKERS" in os.environ:
        defaults["brokers"] = os.environ["KAFKA_BROKERS"]
    if slips := misspelt_variables():
        name, meant = slips[0]
        raise SettingsError(f"{name} is not a setting, but {meant} is: rename or remove {name}")
    if FILE in os.environ:
        _check_file(Path(os.environ[FILE]))
    try:
        return Settings(**defaults)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        raise SettingsError(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None
    except OSError as error:
        raise SettingsError(f"a file named in the settings cannot be read: {error}") from None
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _check_file(path: Path) -> None:
    """Check that the file of settings contains a mapping.

    Raises:
        SettingsError: The file cannot be read, or its content is not a mapping.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{FILE} names a file that does not exist: {path}") from None
    except OSError as error:
        raise SettingsError(f"{FILE}: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{FILE}: {path} is not text in UTF-8") from None
    except yaml.YAMLError as error:
        # only the place: the rest of the message may quote a line of the file with a password
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SettingsError(f"{FILE}: {path} is not valid YAML{place}") from None
    if content is not None and not (
        isinstance(content, dict) and all(isinstance(name, str) for name in content)
    ):
        raise SettingsError(f"{FILE}: {path} should contain one line `name: value` per setting")


def unknown_variables() -> list[str]:
    """Return environment variables with our prefix that match no setting."""
    known = _variables()
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def misspelt_variables() -> list[tuple[str, str]]:
    """Return environment variables that are almost a setting, each with that variable.

    The name differs by one or two characters that are missing, additional, wrong, or exchanged with
    their neighbour.
    """
    known = _variables()
    unknown = [name for name in os.environ if name.upper() not in known]
    slips = sorted(
        (distance, name, setting)
        for name in unknown
        for setting in known
        # a cheap test first: an edit changes the length by 1 at most, and the set of letters by 2
        if abs(len(name) - len(setting)) <= _SLIP
        and len(set(name.upper()) ^ set(setting)) <= 2 * _SLIP
        and (distance := edit_distance(name.upper(), setting)) <= _SLIP
    )
    return [(name, setting) for _, name, setting in slips]


def _variables() -> set[str]:
    return {PREFIX + name.upper() for name in Settings.model_fields} | {FILE, CACHE}


def edit_distance(a: str, b: str) -> int:
    """Return how many characters must be inserted, deleted, replaced or exchanged to get b from a.

    Neighbours that are exchanged count once (Damerau and Levenshtein, each character edited once).
    """
    before, row = list[int](), list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        former, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (one != other)))
            if i > 1 and j > 1 and (one, a[i - 2]) == (b[j - 2], other):
                row[-1] = min(row[-1], former[j - 2] + 1)
    return row[-1]


def require_contact(settings: Settings) -> str:
    """Return the contact address that is sent in the User-Agent.

    Owners of sites must be able to reach the operator of the crawler, so stages that request pages
    or feeds do not start without a contact address.

    Raises:
        SettingsError: The setting `contact` is missing.
    """
    if not settings.contact:
        raise SettingsError(
            "contact is not set: poll and fetch need an e-mail or web address at which owners of "
            "sites can reach you, such as URLTREE_CONTACT=https://example.org/crawler"
        )
    return settings.contact
