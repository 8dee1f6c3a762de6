"""The command `audit` counts each page once by its origin (topic/partition/offset)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest

from agents.commands.audit.command import Audit, account, auditing
from agents.commands.audit.gone import Gone
from agents.commands.audit.ledger import Accounts, AuditOutcome, Ledger
from agents.forgetting import changelog
from agents.kafka.partitions import partition_of
from agents.kafka.tables.table import row_prefix
from agents.kafka.topic_ids import topic_id
from agents.settings.job import Settings, SettingsError
from agents.settings.schemes import Schemes
from models import clean_text, duplicate, raw_html
from models.command import Forget, Marker
from models.dead_letter import DeadLetter, Record
from models.duplicate import DuplicateRecord, Urls
from models.headers.names import COMMAND, ORIGIN
from tests.agents.records import PARTITIONS, Publish, Run, Sent
from tests.agents.workers import PATIENCE
from urltree.output.extraction import Extraction
from urltree.page import Page
from urltree.site.deduplication import Step

DOMAIN = b"example.org"
URL = "http://example.org/a"


def page(url: str = URL, **changes: Any) -> Sent:
    """Return the record of a page of example.org, by default in the partition of this domain."""
    return Sent("raw-html", DOMAIN, raw_html.encode(Page(url=url, html="<p>Hello")))._replace(
        **changes
    )


def clean(origin: str, document_id: str = "0" * 32, fetched_at: str | None = None) -> Sent:
    """Return the record of the clean text of the page with this origin."""
    extraction = Extraction(
        status="ok",
        url=URL,
        origin=origin,
        meta={},
        id=document_id,
        domain="example.org",
        url_key=URL,
        fetched_at=fetched_at,
        text="Hello",
        node="example.org",
        support=1,
        heuristic="strict",
        versions={"tokenizer": 1, "key": 1, "heuristic": 1},
    )
    value = clean_text.encode(extraction)
    return Sent("clean-text", document_id.encode(), value, partition=0)


def duplicate_of(first: str, origin: str) -> Sent:
    """Return the record that reports the page `origin` as a duplicate of the page `first`."""
    record = DuplicateRecord(origin, first, "0" * 32, Step.RULE, Urls(URL, URL, URL, URL))
    return Sent("duplicates", origin.encode(), duplicate.encode(record))


def dead(origin: str, reason: str) -> Sent:
    """Return the dead letter of the page with this origin."""
    original = Record(None, None, ((ORIGIN, b"nonsense"),))
    letter = DeadLetter(origin, "normalize", reason, "m", "raw-html", original).to_record()
    return Sent("dead-letters", letter.key, letter.value, letter.headers)


def document_id() -> str:
    """Return the document id of the page URL under the default settings."""
    return Schemes(Settings()).of(Page(url=URL, html=""))[0].key(URL, lambda: None).id


def test_a_ledger_counts_each_origin_once_under_its_best_outcome() -> None:
    """An origin with both a dead letter and clean text counts as clean text, in any order."""
    ledger = Ledger("t")
    for offset in (5, 6, 8, 9):
        ledger.expect(0, offset)
    ledger.settle("t/0/5", AuditOutcome.DEAD_LETTER, "bad-url")
    ledger.settle("t/0/5", AuditOutcome.CLEAN_TEXT)
    ledger.settle("t/0/6", AuditOutcome.CLEAN_TEXT)
    ledger.settle("t/0/6", AuditOutcome.DEAD_LETTER, "bad-url")
    ledger.settle("t/0/8", AuditOutcome.DUPLICATE, "rule")
    ledger.settle("t/0/8", AuditOutcome.DUPLICATE, "rule")
    assert ledger.accounts() == Accounts(
        origins=4, clean_text=2, duplicates={"rule": 1}, missing=1, first_missing=("t/0/9",)
    )


@pytest.mark.parametrize("origin", ["t/0/4", "t/0/7", "t/0/99", "t/1/5", "u/0/5", "nonsense", ""])
def test_a_ledger_ignores_what_it_does_not_expect(origin: str) -> None:
    """The audit ignores outputs whose origin is outside the audited range or names no record."""
    ledger = Ledger("t")
    ledger.expect(0, 5)
    ledger.expect(0, 8)
    ledger.settle(origin, AuditOutcome.CLEAN_TEXT)
    assert ledger.accounts().missing == ledger.accounts().origins == 2


def test_a_ledger_takes_any_number_of_reasons() -> None:
    """A `Ledger` counts about 250 different reasons, and all further ones as "other"."""
    ledger = Ledger("t")
    for offset in range(1_000):
        ledger.expect(0, offset)
        ledger.settle(f"t/0/{offset}", AuditOutcome.DEAD_LETTER, f"reason {offset}")
    letters = ledger.accounts().dead_letters
    assert sum(letters.values()) == 1_000
    assert letters["other"] > 700


def test_a_range_that_nobody_could_read_counts_each_offset() -> None:
    """A ledger adds the offsets of a range, before, among and after expected ones."""
    ledger = Ledger("t")
    for offset in (5, 6, 8):
        ledger.expect(0, offset)
    ledger.settle("t/0/5", AuditOutcome.CLEAN_TEXT)
    ledger.settle_range(0, 3, 6, AuditOutcome.DEAD_LETTER, "unreadable")
    ledger.settle_range(0, 10, 12, AuditOutcome.DEAD_LETTER, "unreadable")
    ledger.settle_range(1, 7, 7, AuditOutcome.DEAD_LETTER, "unreadable")
    assert ledger.accounts() == Accounts(
        origins=9,
        clean_text=1,
        dead_letters={"unreadable": 7},
        missing=1,
        first_missing=("t/0/8",),
    )


def test_offsets_that_are_gone_are_expired_or_have_left() -> None:
    """Expired ranges may overlap, and count once, and only before the first offset of the log."""
    gone = Gone()
    gone.begin(0, 10, 50)
    gone.begin(0, 10, 60)  # later the log begins later; the audit has read those records
    gone.begin(1, 0, 0)
    for partition, first, last in ((0, 5, 14), (0, 12, 19), (0, 12, 19), (0, 45, 99), (1, 0, 9)):
        gone.expire(partition, first, last)
    assert (gone.expired, gone.left) == (15, 25)
    assert gone.named("t") == ("t/0/10-14", "t/0/15-19", "t/0/45-49")


@pytest.mark.kafka
def test_every_origin_is_counted_by_what_became_of_it(publish: Publish, run: Run) -> None:
    """The audit counts clean texts, duplicates by deduplication step, and dead letters by reason.

    It names the first missing pages.
    """
    a, b, c, d = publish(page(), page(), page(value=None), page())
    publish(clean(a), duplicate_of(a, b), dead(c, "malformed"))
    result = run("audit", "--json")
    assert result.exit_code == 1
    assert orjson.loads(result.stdout) == {
        "origins": 4,
        "clean_text": 1,
        "duplicates": {"rule": 1},
        "superseded": 0,
        "forgotten": 0,
        "dead_letters": {"malformed": 1},
        "missing": 1,
        "first_missing": [d],
        "expired": 0,
        "left": 0,
    }
    publish(clean(d, "1" * 32))
    result = run("audit")
    assert result.exit_code == 0
    assert "4 origins" in result.stdout
    assert "0 missing" in result.stdout


@pytest.mark.kafka
def test_copies_and_commands_are_no_origins(job: Settings, publish: Publish) -> None:
    """The audit counts a page and its re-keyed copy once, and counts no records of commands."""
    (first,) = publish(page(key=None, partition=5))
    publish(
        page(headers=[(ORIGIN, first.encode())]),
        page(headers=[(COMMAND, b"forget")], value=Forget("example.org").encode()),
        clean(first),
    )
    assert asyncio.run(account(job)) == Accounts(origins=1, clean_text=1)


@pytest.mark.kafka
def test_a_range_is_audited_alone(publish: Publish, run: Run) -> None:
    """The options --partition, --from and --to limit the audit to a range of records."""
    origins = publish(*[page() for _ in range(5)])
    publish(page(partition=0, key=b"x"), *[clean(origin) for origin in origins[1:3]])
    partition = origins[0].split("/")[1]
    assert partition != "0"
    result = run("audit", "--partition", partition, "--from", "1", "--to", "3", "--json")
    assert orjson.loads(result.stdout)["origins"] == 2
    assert result.exit_code == 0
    assert "6 origins" in run("audit").stdout


@pytest.mark.kafka
@pytest.mark.parametrize("options", [(), ("--fetches",)], ids=["raw-html", "fetches"])
def test_a_partition_that_is_none_is_refused(job: Settings, run: Run, options: tuple[str]) -> None:
    """An audit of a partition that does not exist is an error, which names those that exist."""
    topic = job.topic("fetches" if options else "raw-html")
    with pytest.raises(SettingsError, match=f"{topic} has no partition 99; its .* are 0 to 5"):
        run("audit", "--partition", "99", *options)
    assert run("audit", "--partition", "5", *options).exit_code == 0


@pytest.mark.kafka
def test_a_live_audit_keeps_up(job: Settings, publish: Publish) -> None:
    """Each update of a live audit adds the records that arrived since the update before it."""

    async def twice() -> tuple[Accounts, Accounts, Accounts]:
        async with auditing(job) as audit:
            before = await audit.update()
            (origin,) = await asyncio.to_thread(publish, page())
            between = await audit.update()
            await asyncio.to_thread(publish, clean(origin))
            return before, between, await audit.update()

    before, between, after = asyncio.run(twice())
    assert before == Accounts()
    assert between.missing == 1
    assert after == Accounts(origins=1, clean_text=1)


@pytest.mark.kafka
def test_waiting_ends_as_soon_as_nothing_is_missing(
    job: Settings, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`audit --wait` waits until none of the pages that existed at its start is missing."""
    (origin,) = publish(page())
    looked, update = asyncio.Event(), Audit.update

    async def noted(audit: Audit, *, grow: bool = True) -> Accounts:
        accounts = await update(audit, grow=grow)
        looked.set()
        return accounts

    async def both() -> Accounts:
        waiting = asyncio.create_task(account(job, wait=PATIENCE))
        await looked.wait()
        await asyncio.to_thread(publish, page(), clean(origin))
        return await waiting

    monkeypatch.setattr(Audit, "update", noted)
    assert asyncio.run(both()) == Accounts(origins=1, clean_text=1)


@pytest.mark.kafka
def test_clean_text_that_a_later_page_replaced_is_not_missing(
    job: Settings, publish: Publish
) -> None:
    """A page counts as superseded if a later page with the same id has replaced its clean text."""
    first, second, third = publish(page(), page(), page())
    publish(clean(second, document_id()))
    assert asyncio.run(account(job)) == Accounts(
        origins=3, clean_text=1, superseded=1, missing=1, first_missing=(third,)
    )
    assert first < second


@pytest.mark.kafka
def test_between_partitions_times_say_what_was_superseded(job: Settings, publish: Publish) -> None:
    """A page is superseded by a page of another partition only if that page was fetched later.

    A page without a fetch time counts as missing, because its order is unknown.
    """
    dated = Page(url=URL, html="<p>Hello", fetched_at="2026-01-01T00:00:00Z")
    publish(page(partition=5, value=raw_html.encode(dated)))
    (undated,) = publish(page(partition=5))
    publish(clean("raw-html/0/7", document_id(), fetched_at="2026-01-02T00:00:00Z"))
    assert asyncio.run(account(job)) == Accounts(
        origins=2, superseded=1, missing=1, first_missing=(undated,)
    )


@pytest.mark.kafka
def test_clean_text_that_was_forgotten_is_not_missing(job: Settings, publish: Publish) -> None:
    """A page is forgotten if a command came after it, and tombstones show that it was carried out.

    A page that came after the command is missing, although clean-text has a tombstone with its id.
    Releases that store no markers carry out a command in this way.
    """
    command = Sent("raw-html", DOMAIN, Forget("example.org").encode(), [(COMMAND, b"forget")])
    _, _, at, _ = publish(page(), page(url="http://example.org/lost"), command, page())
    answered = (document_id().encode(), f"forget/{at}".encode())
    publish(*[Sent("clean-text", key, None, partition=0) for key in answered])
    accounts = asyncio.run(account(job))
    assert (accounts.forgotten, accounts.missing) == (1, 2)


@pytest.mark.kafka
def test_a_command_without_an_answer_forgets_nothing(job: Settings, publish: Publish) -> None:
    """A page is missing if the command after it was not answered, despite a tombstone of its id."""
    command = Sent("raw-html", DOMAIN, Forget("example.org").encode(), [(COMMAND, b"forget")])
    publish(page(), command, Sent("clean-text", document_id().encode(), None, partition=0))
    accounts = asyncio.run(account(job))
    assert (accounts.forgotten, accounts.missing) == (0, 1)


@pytest.mark.kafka
def test_a_marker_shows_what_was_forgotten(job: Settings, publish: Publish) -> None:
    """A marker of `extract` covers the pages before its offsets, also records without a valid page.

    A marker for a raw-html that was deleted since covers nothing.
    """
    publish(page(), page(url="http://example.org/b"), page(value=b"invalid"), page())
    place = partition_of(DOMAIN, PARTITIONS)
    present = asyncio.run(topic_id(job, "raw-html"))
    counts = Marker(present, (*[0] * place, 3), 0)
    void = replace(counts, topic="0" * 32)
    for marker, forgotten in ((void, 0), (counts, 3)):
        publish(Sent(changelog("extract"), row_prefix("example.org"), marker.encode()))
        accounts = asyncio.run(account(job))
        assert (accounts.forgotten, accounts.missing) == (forgotten, 4 - forgotten)


@pytest.mark.kafka
def test_records_of_others_in_a_topic_are_named_and_passed(publish: Publish, run: Run) -> None:
    """The audit reports an invalid record in an output topic, and continues."""
    (origin,) = publish(page())
    publish(*[Sent(topic, b"x", b"x") for topic in ("clean-text", "duplicates", "dead-letters")])
    publish(clean(origin))
    result = run("audit")
    assert result.exit_code == 0
    assert "not JSON" in result.stderr
