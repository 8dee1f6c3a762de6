"""The rights that each user of Kafka needs: the one list from which everything else is made.

    this list ─▶ the check of a worker at its start (`agents.access.check`)
             ├─▶ deploy/helm/acls.yaml ─▶ the chart's KafkaUser resources (`make generate`)
             ├─▶ the table in docs/access.md (`make generate`)
             └─▶ the ACLs in tests/agents/test_access.py, on a Kafka that denies everything else

A role has the rights of one stage, of one command, or of a client outside the job. Topics are named
without prefix. Kafka itself derives some rights from others, so the list leaves them out: Read and
Write include Describe, AlterConfigs includes DescribeConfigs, and Write on any topic allows an
idempotent producer (since Kafka 3.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.forgetting import TABLES, changelog
from agents.settings.job import Settings
from agents.settings.topics_file import declared_topics

STAGES = ("poll", "fetch", "normalize", "extract")
TOPIC, GROUP, TRANSACTION = "topic", "group", "transactionalId"
OF_USER = "USER"
"""Name of a resource whose names begin with the name of the user, such as the user's groups."""

_INCLUDES = {
    "Read": {"Describe"},
    "Write": {"Describe"},
    "AlterConfigs": {"DescribeConfigs"},
}


class Acl(NamedTuple):
    """One right.

    Attributes:
        resource: `TOPIC`, `GROUP` or `TRANSACTION`.
        name: Name of the resource without prefix, or `OF_USER`.
        operation: Operation as Kafka names it.
    """

    resource: str
    name: str
    operation: str


@dataclass(frozen=True)
class Role:
    """A user of Kafka (a stage, a command or a client), with the topics and groups that it uses.

    Attributes:
        name: Name of the stage, words of the command, or name of the kind of client.
        what: Description for people.
        reads, writes: Topics whose records the role reads or writes.
        joins: Stages in whose groups the role reads records or sets offsets.
        sees: Topics whose offsets the role asks for, without reading records.
        asks: Stages whose groups the role asks for offsets or members.
        checks: Whether the role compares all topics with topics.yaml.
        manages: Whether the role creates topics and changes their config.
        of_user: Kinds of resources that the user names: `GROUP`, `TRANSACTION`.
    """

    name: str
    what: str = ""
    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    sees: Sequence[str] = ()
    joins: Sequence[str] = ()
    asks: Sequence[str] = ()
    checks: bool = False
    manages: bool = False
    of_user: Sequence[str] = ()


class Names:
    """Names of the topics that topics.yaml declares, without prefix.

    Attributes:
        all: All names.
    """

    def __init__(self, settings: Settings) -> None:
        topics = [(t.name.removeprefix(settings.prefix), t.role) for t in declared_topics(settings)]
        self.all = tuple(name for name, _ in topics)
        self._changelogs = tuple(name for name, role in topics if role == "changelog")

    def changelogs(self, *stages: str) -> tuple[str, ...]:
        """Return the changelogs of these stages."""
        begins = tuple(f"urltree-{stage}-" for stage in stages)
        return tuple(name for name in self._changelogs if name.startswith(begins))


_READS = {
    "poll": ("feeds", "poll-outcomes"),
    "fetch": ("fetches", "requests"),
    "normalize": ("raw-html",),
    "extract": ("documents",),
}
_FOLLOWS: dict[str, tuple[str, ...]] = {"poll": ("rules",), "fetch": ("rules",)}
_WRITES = {
    "poll": ("requests", "fetches", "dead-letters"),
    "fetch": ("requests", "poll-outcomes", "fetches", "raw-html", "unchanged", "dead-letters"),
    "normalize": ("raw-html", "documents", "duplicates", "dead-letters"),
    "extract": ("clean-text", "duplicates", "dead-letters"),
}


def stages(names: Names) -> list[Role]:
    """Return the roles of the four stages."""
    return [
        Role(
            stage,
            f"workers of `{stage}`",
            reads=(*_READS[stage], *_FOLLOWS.get(stage, ()), *names.changelogs(stage)),
            writes=(*_WRITES[stage], *names.changelogs(stage)),
            joins=(stage,),
            checks=True,
        )
        for stage in STAGES
    ]


def commands(names: Names) -> list[Role]:
    """Return the roles of the operator commands."""
    sources = tuple(dict.fromkeys(topic for stage in STAGES for topic in _READS[stage]))
    tables = names.changelogs(*STAGES)
    markers = tuple(changelog(stage) for stage in TABLES)
    learned = tuple(n for n in names.changelogs("normalize", "extract") if n not in markers)
    feed_state = tuple(n for n in names.changelogs("poll") if n.endswith("-feed_state-changelog"))
    rows = tuple(n for n in names.changelogs("extract") if n.endswith("-rows-changelog"))
    results = ("clean-text", "duplicates", "dead-letters")
    return [
        Role(
            "audit",
            reads=("raw-html", "fetches", "unchanged", *results, changelog("extract")),
            asks=("fetch",),
        ),
        Role("dead-letters list", reads=("dead-letters",)),
        Role("dead-letters replay", reads=("dead-letters",), writes=sources),
        Role("dead-letters show", reads=("dead-letters",)),
        Role("deny add", reads=("rules",), writes=("rules",)),
        Role("deny check", reads=("rules",)),
        Role("deny list", reads=("rules",)),
        Role("deny remove", reads=("rules",), writes=("rules",)),
        Role("domain", reads=(*rows, "documents")),
        Role("feeds add", reads=("feeds",), writes=("feeds",)),
        Role("feeds export", reads=("feeds",)),
        Role("feeds import", reads=("feeds",), writes=("feeds",)),
        Role("feeds list", reads=("feeds", *feed_state)),
        Role(
            "feeds remove",
            reads=("feeds", "rules"),
            writes=("feeds", "rules"),
            sees=("fetches",),
        ),
        Role("fetches purge", reads=("fetches", "rules"), writes=("rules",), asks=("fetch",)),
        Role("forget", reads=("clean-text",), writes=("raw-html", "requests", "clean-text")),
        Role(
            "reset",
            reads=("raw-html", "documents", *learned),
            writes=learned,
            joins=("normalize", "extract"),
        ),
        Role(
            "round-trip",
            reads=("documents", "clean-text", "dead-letters"),
            writes=("raw-html",),
            asks=("normalize", "extract"),
        ),
        Role("state dump", reads=(*sources, "rules", *tables), asks=STAGES),
        Role(
            "state restore",
            reads=(*sources, "rules", *tables),
            writes=(*sources, "rules", *tables),
            joins=STAGES,
            checks=True,
        ),
        Role("topics apply", manages=True),
        Role("topics check", checks=True),
    ]


def clients() -> list[Role]:
    """Return the roles of clients outside the job."""
    return [
        Role("producer", "a client that publishes pages", writes=("raw-html",)),
        Role(
            "producer with transactions",
            "the same, in transactions",
            writes=("raw-html",),
            of_user=(TRANSACTION,),
        ),
        Role(
            "autoscaler",
            "KEDA, which reads the lag of `normalize` and `extract`",
            sees=("raw-html", "documents"),
            asks=("normalize", "extract"),
        ),
        Role("consumer", "a client that reads clean text", reads=("clean-text",), of_user=(GROUP,)),
    ]


def acls_of(role: Role, names: Names) -> frozenset[Acl]:
    """Return the smallest set of ACLs with which a role works."""
    return _without_included(_acls(role, names))


def operator(names: Names) -> frozenset[Acl]:
    """Return the ACLs of a user for all commands."""
    return _without_included(acl for role in commands(names) for acl in _acls(role, names))


def _acls(role: Role, names: Names) -> Iterator[Acl]:
    everything = names.all if role.checks or role.manages else ()
    wanted: Iterable[tuple[str, Iterable[str], str]] = (
        (TOPIC, role.reads, "Read"),
        (TOPIC, role.writes, "Write"),
        (TOPIC, (*role.sees, *everything), "Describe"),
        (TOPIC, everything, "DescribeConfigs"),
        (TOPIC, names.all if role.manages else (), "Create"),
        (TOPIC, names.all if role.manages else (), "AlterConfigs"),
        (GROUP, (f"urltree-{stage}" for stage in role.joins), "Read"),
        (GROUP, (f"urltree-{stage}" for stage in role.asks), "Describe"),
    )
    for resource, found, operation in wanted:
        yield from (Acl(resource, name, operation) for name in found)
    for resource in role.of_user:
        yield Acl(resource, OF_USER, "Read" if resource == GROUP else "Write")


def _without_included(acls: Iterable[Acl]) -> frozenset[Acl]:
    found = set(acls)
    return frozenset(
        acl
        for acl in found
        if not any(
            acl.operation in included and acl._replace(operation=more) in found
            for more, included in _INCLUDES.items()
        )
    )
