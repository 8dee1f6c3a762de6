"""A job on a Kafka with an authorizer: each stage, command and client uses its own login.

`do` carries out the work of a command or a client, and `GuardedJob.input` has the records for a
stage. Together they use every right of `agents.access.roles`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from click.testing import CliRunner, Result

from agents.__main__ import main
from agents.access.roles import Acl, Names, Role, acls_of, clients, commands, stages
from agents.commands.audit.forgotten import CarriedOut
from agents.commands.dead_letters.search import Filter, find_dead_letters
from agents.commands.round_trip import _waits, _where_it_is
from agents.commands.state.dump import dump
from agents.commands.topics import apply
from agents.forgetting import HEADERS, TABLES, changelog
from agents.kafka.client import (
    admin,
    consumer,
    full_ranges,
    options,
    partitions,
    producer,
    read_records,
)
from agents.kafka.groups import committed_offsets
from agents.kafka.partitions import partition_of
from agents.kafka.tables.live_keys import live_keys
from agents.settings.job import Settings
from agents.settings.schemes import Schemes
from models import document as documents
from models import raw_html
from models.command import Forget, Marker
from models.crawl import fetch as fetches
from models.crawl.feed import Feed
from models.crawl.fetch import FetchRequest
from models.origin import Origin
from tests.agents.feed_server import FeedServer, rss
from tests.agents.limits import GUARD, OF_WORKERS
from tests.agents.records import PARTITIONS, Sent
from tests.guarded_kafka import Given, GuardedKafka
from urltree.page import Page
from urltree.pipeline import Pipeline

NAMES = Names(Settings.model_validate({}))
MARKERS = tuple(changelog(stage) for stage in TABLES)
STAGES: Mapping[str, Role] = {role.name: role for role in stages(NAMES)}
OTHERS: Mapping[str, Role] = {role.name: role for role in (*commands(NAMES), *clients())}
ROLES: Mapping[str, Role] = {**STAGES, **OTHERS}
ACLS: Mapping[str, frozenset[Acl]] = {name: acls_of(role, NAMES) for name, role in ROLES.items()}

SITE = "example.org"
HOST = f"news.{SITE}"


def user_of(role: str) -> str:
    """Return the name of the user of a role."""
    return role.replace(" ", "-")


USERS = [user_of(role) for role in ROLES]


class GuardedJob:
    """The logins of a job with its own prefix.

    Attributes:
        admin: Settings of the administrator, who may do everything.
    """

    def __init__(self, kafka: GuardedKafka, prefix: str, directory: Path) -> None:
        self.kafka, self.prefix, self.directory = kafka, prefix, directory
        self.web = FeedServer()
        self._limits = {name: str(seconds) for name, seconds in OF_WORKERS.items()}
        self.admin = Settings.model_validate(
            {"brokers": kafka.brokers, "prefix": prefix, **self._limits}
        )

    def given(self, role: str) -> list[Given]:
        """Return the ACLs of a role for the topics of this job."""
        return [Given(user_of(role), acl, self.prefix) for acl in sorted(ACLS[role])]

    def fields(self, role: str) -> dict[str, str]:
        """Return the settings of a worker or a command of this role, as texts."""
        return {
            **self.kafka.login(user_of(role)),
            **self._limits,
            "prefix": self.prefix,
            "data_dir": str(self.directory / user_of(role)),
            "commit_seconds": "0.3",
            "revisits": "replace",
            "contact": "https://example.org/crawler",
            "allow_networks": "127.0.0.0/8",
            "connect_to": f"::127.0.0.1:{self.web.port}",
            "requests_per_address": "1000",
            "requests_per_domain_second": "1000",
            "host_pause": "0.01",
        }

    def settings(self, role: str) -> Settings:
        """Return the settings of a role."""
        return Settings.model_validate(self.fields(role))

    async def run(self, role: str, *arguments: str, **given: Any) -> Result:
        """Run a command of `python -m agents` with the login of a role."""
        named = {f"URLTREE_{name.upper()}": text for name, text in self.fields(role).items()}
        call = partial(CliRunner().invoke, main, arguments, env=named, **given)
        result: Result = await asyncio.to_thread(call, catch_exceptions=False)
        return result

    async def publish(self, records: Iterable[Sent]) -> None:
        """Publish records as the administrator."""
        async with producer(self.admin) as client:
            for topic, key, value, headers, at in records:
                place = partition_of(key or b"", PARTITIONS) if at is None else at
                name = self.admin.topic(topic)
                await client.send_and_wait(name, value, key, place, headers=list(headers))

    async def fill_tables(self, *of: str) -> None:
        """Write a row to each changelog of these stages; `reset` deletes no markers."""
        rows = [
            Sent(name, b"filled.example\0row", b"value")
            for name in NAMES.changelogs(*of)
            if name not in MARKERS
        ]
        await self.publish(rows)

    async def apply(self) -> None:
        """Create the topics as the administrator."""
        await asyncio.to_thread(lambda: asyncio.run(apply(self.admin)))

    async def empty_tables(self) -> None:
        """Delete all rows of the changelogs, feeds and rules; each partition has a record."""
        names = [*NAMES.changelogs(*STAGES), "feeds", "rules"]
        gone = [Sent(name, b"gone", None, (), at) for name in names for at in range(PARTITIONS)]
        async with consumer(self.admin) as client:
            places = [p for n in names for p in await partitions(client, self.admin.topic(n))]
            async for place, key in live_keys(client, places):
                name = place.topic.removeprefix(self.prefix)
                gone.append(Sent(name, key, None, (), place.partition))
        await self.publish(gone)

    async def delete_topic(self, name: str) -> None:
        """Delete a topic, and wait until the brokers do not list it any more."""
        async with admin(self.admin) as client:
            await client.delete_topics([self.admin.topic(name)])
            while self.admin.topic(name) in await client.list_topics():  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def wait_for_records(self, name: str, count: int) -> list[Any]:
        """Return the records of a topic as soon as there are this many."""
        async with asyncio.timeout(GUARD), consumer(self.admin) as client:
            places = await partitions(client, self.admin.topic(name))
            while True:
                ranges = await full_ranges(client, places)
                found = [record async for record in read_records(client, ranges)]
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.1)

    async def alter_topics(self) -> None:
        """Change a config of each topic, so that `topics apply` has to restore it."""
        async with admin(self.admin) as client:
            wanted = [
                ConfigResource(
                    ConfigResourceType.TOPIC, self.admin.topic(name), {"retention.ms": "1234567"}
                )
                for name in NAMES.all
                if self.admin.topic(name) in await client.list_topics()
            ]
            await client.alter_configs(wanted)
            while any(  # noqa: ASYNC110 - until the brokers report the change
                "1234567" not in str(configs.resources)
                for configs in await client.describe_configs(wanted[-1:])
            ):
                await asyncio.sleep(0.05)

    def input(self, stage: str) -> list[Sent]:
        """Return records with which a stage uses all its rights; extract needs some more."""
        name = uuid4().hex
        if stage == "poll":
            url = f"http://{HOST}/{name}.rss"
            self.web.put(f"{HOST}/{name}.rss", rss(f"{name}-1 first", f"{name}-2 second"))
            feed = Feed(site=SITE, url=url)
            return [
                Sent("feeds", feed.key, feed.encode(), (), partition_of(SITE.encode(), PARTITIONS)),
                Sent("feeds", feed.key, b"bad", (), partition_of(SITE.encode(), PARTITIONS)),
                Sent("poll-outcomes", SITE.encode(), b"bad"),
            ]
        if stage == "fetch":
            return self._pages(name)
        if stage == "normalize":
            one, two = (page(f"{name}-{number}") for number in "12")
            home = partition_of(SITE.encode(), PARTITIONS)
            forget = Forget(f"{name}.example", before=())
            return [
                Sent("raw-html", forget.domain.encode(), forget.encode(), HEADERS),
                *(Sent("raw-html", SITE.encode(), value) for value in (one, one, b"bad")),
                Sent("raw-html", None, two, (), (home + 1) % PARTITIONS),
            ]
        domain = f"{name}.example"
        first, second = (document(domain, text, at) for at, text in enumerate(("one", "two")))
        return [Sent("documents", domain.encode(), v) for v in (first, second, first, b"bad")]

    def _pages(self, name: str) -> list[Sent]:
        """Return records with which `fetch` uses all its rights.

        a is published, and b is redirected to another domain. d may be a wall, because it ends at
        the first page of its host. e has not changed when it is asked for again. The robots.txt of
        a second host is redirected to another domain, whose owner is asked for it.
        """
        host, other = f"{name}.example", f"to-{name}.example"
        self.web.put(f"{host}/a", b"<p>The text of amber.</p>")
        self.web.put(f"{host}/b", status=301, Location=f"http://{other}/c")
        self.web.put(f"{other}/c", b"<p>The text of another page.</p>")
        self.web.put(f"{host}/d", status=302, Location=f"http://{host}/")
        self.web.put(f"{host}/", b"<p>The first page of a host.</p>")
        self.web.put(f"{host}/e", b"<p>The text of emerald.</p>", ETag='"1"')
        self.web.put(f"r-{host}/robots.txt", status=301, Location=f"http://{other}/robots.txt")
        wanted = [
            FetchRequest(url=f"http://{host}/a", title="Amber"),
            FetchRequest(url=f"http://{host}/b"),
            FetchRequest(url=f"http://{host}/d"),
            FetchRequest(url=f"http://{host}/e", title="Emerald"),
            FetchRequest(url=f"http://{host}/e", title="Emerald", is_revisit=True),
        ]
        elsewhere = fetches.encode(FetchRequest(url=f"http://r-{host}/a", title="Amber"))
        return [
            *(Sent("fetches", host.encode(), fetches.encode(one)) for one in wanted),
            Sent("fetches", f"r-{host}".encode(), elsewhere),
            *(Sent(topic, host.encode(), b"bad") for topic in ("fetches", "requests")),
        ]


def document(domain: str, text: str, offset: int) -> bytes:
    """Return the value of a document's record: a version of the page /live of a domain."""
    found = Page(url=f"https://{domain}/live", html=f"<p>{text}</p>")
    settings = Settings.model_validate({})
    made = Pipeline(settings.pipeline).document(
        found, f"raw-html/0/{offset}", Schemes(settings).of(found)[0]
    )
    return documents.encode(made)


async def do(job: GuardedJob, role: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one case each
    """Let a role that is no stage use all its rights once; an error of Kafka is raised.

    Before, the four stages have processed their inputs. For `forget` and `round-trip` the stages
    normalize and extract must run, for `reset` and `state` none may run.
    """
    command = role.split(" ")
    match command:
        case ["audit"]:
            await job.run(role, "audit")
            await job.run(role, "audit", "--fetches")
            await _look_for_commands(job.settings(role))
        case ["dead-letters", "show"]:
            letter, *_ = await find_dead_letters(job.admin, Filter())
            await job.run(role, *command, letter.origin)
        case ["dead-letters", "replay"]:
            await job.run(role, *command, "--all", "--yes", "--rate", "1000")
        case ["deny", "add" | "remove"]:
            await job.publish([Sent("rules", b"deny host denied.example", b'{"schema":1}')])
            await job.run(role, *command, "--host", "denied.example")
        case ["deny", "check"]:
            await job.run(role, *command, "http://denied.example/")
        case ["fetches", "purge"]:
            # a page that waits, because its host cannot be asked for a minute
            job.web.put("busy.example/a", status=503)
            wanted = fetches.encode(FetchRequest(url="http://busy.example/a"))
            await job.publish([Sent("fetches", b"busy.example", wanted)])
            await job.run(role, *command, "--host", "denied.example", "--yes")
        case ["domain"]:
            await job.run(role, *command, SITE)
        case ["feeds", "add" | "remove"]:
            url = f"http://{HOST}/followed.rss"
            job.web.put(f"{HOST}/followed.rss", rss("one", "two"))
            await job.publish([feed_of(url)])
            await job.run(role, *command, url)
        case ["feeds", "import"]:
            await job.run(role, *command, "-", input=f"http://{HOST}/imported.rss\n")
        case ["forget"]:
            # the clean text of a page without a row, which the command itself has to delete
            domain = f"{uuid4().hex}.example"
            text = orjson.dumps({"schema": 1, "domain": domain, "text": "", "response_url": "u"})
            at = partition_of(domain.encode(), PARTITIONS)
            await job.publish([Sent("clean-text", uuid4().hex.encode(), text, (), at)])
            await job.run(role, *command, domain, "--yes", "--wait", f"{GUARD:g}")
        case ["reset"]:
            await job.fill_tables("normalize", "extract")
            for stage in ("normalize", "extract"):
                await job.run(role, *command, stage, "--yes")
        case ["round-trip"]:
            await job.run(role, *command, "--wait", f"{GUARD:g}")
            await _look_for_a_page(job.settings(role))
        case ["state", "dump"]:
            await job.publish([sent for stage in STAGES for sent in job.input(stage)])
            await job.run(role, *command, str(job.directory / "dump"))
        case ["state", "restore"]:
            await _restore(job, role)
        case ["topics", "apply"]:
            await job.alter_topics()
            await job.run(role, *command)
        case ["producer", *more]:
            await _produce(job, role, transactional=bool(more))
        case ["autoscaler"]:
            await _scale(job.settings(role))
        case ["consumer"]:
            await _consume(job, role)
        case _:  # dead-letters list, deny list, feeds export, feeds list, topics check
            await job.run(role, *command)


async def _look_for_commands(settings: Settings) -> None:
    """Take the step of `audit` that looks for the commands that deleted missing pages."""
    async with consumer(settings) as client:
        await CarriedOut(settings.topic("raw-html")).read_markers(settings, client)


async def _look_for_a_page(settings: Settings) -> None:
    """Take the steps of `round-trip` for a page whose clean text did not come."""
    async with consumer(settings) as client:
        ends = {
            place: 0
            for name in ("documents", "clean-text", "dead-letters")
            for place in await partitions(client, settings.topic(name))
        }
        at = Origin("none", partition_of(SITE.encode(), PARTITIONS), 10**6)
        await _where_it_is(settings, client, ends, at)
        await _waits(settings, "extract", "documents", at)


async def _restore(job: GuardedJob, role: str) -> None:
    """Restore a dump of this job, then one of another job, into empty tables."""
    await job.empty_tables()
    marker = Marker(None, (), 0).encode()
    await job.publish([Sent(name, b"marked.example\0", marker) for name in MARKERS])
    mine, others = job.directory / "mine", job.directory / "others"
    with mine.open("wb") as out:
        await dump(job.admin, out)
    await job.empty_tables()
    other = GuardedJob(job.kafka, f"{job.prefix}other-", job.directory)
    await other.apply()
    await other.publish([sent for stage in STAGES for sent in other.input(stage)])
    await other.publish([Sent("rules", b"deny host denied.example", b'{"schema":1}')])
    await other.fill_tables(*STAGES)
    with others.open("wb") as out:
        await dump(other.admin, out)
    for file in (mine, others):
        await job.run(role, "state", "restore", str(file))


async def _produce(job: GuardedJob, role: str, *, transactional: bool) -> None:
    """Publish a page as an idempotent producer, or in a transaction."""
    settings = job.settings(role)
    name = f"{job.prefix}{user_of(role)}-1" if transactional else None
    client = AIOKafkaProducer(
        **options(settings), acks="all", enable_idempotence=True, transactional_id=name
    )
    await client.start()
    try:
        topic, value = settings.topic("raw-html"), page(uuid4().hex)
        if transactional:
            async with client.transaction():
                await client.send_and_wait(topic, value, SITE.encode())
        else:
            await client.send_and_wait(topic, value, SITE.encode())
    finally:
        await client.stop()


async def _scale(settings: Settings) -> None:
    """Ask for the lag of two stages."""
    for stage, topic in (("normalize", "raw-html"), ("extract", "documents")):
        await committed_offsets(settings, stage, topic)
        async with consumer(settings) as client:
            await client.end_offsets(await partitions(client, settings.topic(topic)))


async def _consume(job: GuardedJob, role: str) -> None:
    """Read a clean text as a member of a group, and commit its offset."""
    settings = job.settings(role)
    client = AIOKafkaConsumer(
        settings.topic("clean-text"),
        **options(settings),
        group_id=f"{job.prefix}{user_of(role)}-{uuid4().hex}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await client.start()
    try:
        await client.getone()
        await client.commit()
    finally:
        await client.stop()


def feed_of(url: str) -> Sent:
    """Return the record of a feed of SITE."""
    feed = Feed(site=SITE, url=url)
    at = partition_of(SITE.encode(), PARTITIONS)
    return Sent("feeds", feed.key, feed.encode(), (), at)


def page(path: str, text: str = "and nothing else") -> bytes:
    """Return the value of a page's record in raw-html."""
    html = f"<p>This is {path} {text}.</p><p>Imprint and contact</p>"
    return raw_html.encode(Page(url=f"https://{SITE}/{path}", html=html))
