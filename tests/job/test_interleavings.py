"""Tests that force every interleaving of writes and kills that could lose or repeat a document.

Nothing is random: `runner.py` kills or stops a worker at an exact delivery.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from agents.kafka.groups import rewind
from models import document as documents
from tests.job.conftest import MakeJob
from tests.job.harness import Job, Worker, wait_until
from tests.job.kafka_records import Sent, beginning, keyed, members, run
from tests.job.outcomes import clean_texts, dead_letters, outcomes
from tests.job.pages import OLD, START, Site
from tests.job.state import assert_trees_equal_recount, count, differing, in_changelog, on_disk
from urltree.extractor import extract
from urltree.page import Page
from urltree.site.row import Row
from urltree.tree.window import Eviction

EVICTION = Eviction(max_documents=20, keep=10)
SMALL_WINDOW = {"max_documents": EVICTION.max_documents, "keep": EVICTION.keep}
SAME, EMPTY = "the same disk", "an empty disk"
FIFTH = "5"  # number of the delivery at which workers die, with deliveries before and after it


thorough = pytest.mark.thorough


def articles(number: int) -> list[Page]:
    """Return different pages of one site, fetched an hour apart."""
    site, random = Site("site0.example", []), Random(1)
    return [
        replace(
            site.article(n, random),
            published=None,
            fetched_at=(START + timedelta(hours=n)).isoformat(),
            meta={"n": str(n)},
        )
        for n in range(number)
    ]


def normalized(job: Job, made: Sequence[Page]) -> None:
    """Publish pages, and make documents of them with `normalize`."""
    job.publish(map(keyed, made))
    job.worker("normalize").work_here()


def published_texts(job: Job) -> dict[str, set[str]]:
    """Return all published texts of each page, by the page's meta string `n`."""
    texts: dict[str, set[str]] = {}
    for value in clean_texts(job):
        texts.setdefault(value["meta"]["n"], set()).add(value["text"])
    return texts


def undisturbed(made: Sequence[Page], eviction: Eviction | None = None) -> dict[str, set[str]]:
    """Return the texts that the library extracts from these pages, by their meta string `n`.

    `test_same_everywhere.py` tests that the job extracts the same texts.
    """
    texts: dict[str, set[str]] = {}
    for found in extract(made, eviction=eviction, revise=True):
        texts.setdefault(found.meta["n"], set()).add(found.text or "")
    return texts


@pytest.mark.parametrize(
    ("action", "disk"),
    [
        ("die", SAME),
        pytest.param("die", EMPTY, marks=thorough),
        pytest.param("lose", SAME, marks=thorough),
        ("lose", EMPTY),
    ],
)
def test_killed_between_put_and_changelog_acknowledgement(
    make_job: MakeJob, action: str, disk: str
) -> None:
    """A worker dies before the row that it wrote is in the changelog.

    After the replay, the changelog has the row, and the tree counts the document once.
    """
    made = articles(12)
    with make_job() as job:
        normalized(job, made)
        dying = job.worker("extract", "extract", [action, "rows-changelog", FIFTH])
        dying.start(wait=False).wait_end()
        assert count(on_disk(dying, "rows")) == int(FIFTH)
        assert count(in_changelog(job, "rows")) < int(FIFTH)
        again = job.worker("extract", "extract")
        if disk == EMPTY:
            again.wipe()
        again.work_here()
        assert count(in_changelog(job, "rows")) == len(made)
        assert differing(on_disk(again, "rows"), in_changelog(job, "rows")) == []
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)
        found = published_texts(job)
    assert found == undisturbed(made)


@pytest.mark.parametrize("action", ["die", pytest.param("lose", marks=thorough)])
def test_killed_before_the_tombstone_of_an_evicted_row(make_job: MakeJob, action: str) -> None:
    """A worker dies before the tombstone of an evicted row is in the changelog.

    The replay evicts the row again, so the changelog does not keep it forever.
    """
    made = articles(40)
    first_tombstone = "2"  # the first delivery is the row of the 21st document
    with make_job(**SMALL_WINDOW) as job:
        normalized(job, made[:20])
        job.worker("extract").work_here()
        normalized(job, made[20:])
        dying = job.worker("extract", "extract", [action, "rows-changelog", first_tombstone])
        dying.start(wait=False).wait_end()
        again = job.worker("extract", "extract")
        again.work_here()
        assert count(in_changelog(job, "rows")) == EVICTION.max_documents
        assert differing(on_disk(again, "rows"), in_changelog(job, "rows")) == []
        assert assert_trees_equal_recount(job, on_disk(again, "rows"), EVICTION) == (1, 0)
        found = published_texts(job)
    assert found == undisturbed(made, EVICTION)


def test_killed_between_changelog_and_clean_text(make_job: MakeJob) -> None:
    """The replay publishes the missing clean text of a stored row, and counts no row twice."""
    made = articles(12)
    with make_job() as job:
        normalized(job, made)
        job.worker("extract", "extract", ["die", "clean-text", FIFTH]).start(wait=False).wait_end()
        job.worker("extract").work_here()
        assert not outcomes(job).missing
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)
        found = published_texts(job)
    assert found == undisturbed(made)


@pytest.mark.parametrize(
    ("fault", "disk"),
    [
        pytest.param(
            [action, topic, FIFTH],
            disk,
            id=f"{name}-{disk}",
            marks=() if disk == in_make_test else thorough,
        )
        for action, topic, name, in_make_test in [
            ("die", "documents", "before the forward", ""),
            ("lose", "documents", "seen is put, the forward is lost", SAME),
            ("die", "seen-changelog", "forwarded, seen is on the disk only", EMPTY),
            ("lose", "seen-changelog", "forwarded, seen's changelog is lost", SAME),
        ]
        for disk in (SAME, EMPTY)
    ],
)
def test_killed_between_seen_and_forward(make_job: MakeJob, fault: list[str], disk: str) -> None:
    """No page becomes a duplicate of itself or is lost if `normalize` dies.

    It dies at different points of its writes to `seen` and to documents.
    """
    made = articles(12)
    with make_job() as job:
        job.publish(map(keyed, made))
        job.worker("normalize", "normalize", fault).start(wait=False).wait_end()
        again = job.worker("normalize", "normalize")
        if disk == EMPTY:
            again.wipe()
        job.publish(map(keyed, made))  # a second copy of each page, which is a duplicate
        again.work_here()
        job.worker("extract").work_here()
        found = outcomes(job)
        assert not found.missing
        assert found.of("clean-text") == len(made)
        assert found.of("duplicates") == len(made)
        assert differing(on_disk(again, "seen"), in_changelog(job, "seen")) == []
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)


def test_a_partition_away_and_back(make_job: MakeJob) -> None:
    """A worker gets a partition back after another worker has written and deleted rows in it.

    The first worker's disk then has these changes, too.
    """
    made = articles(60)
    with make_job(**SMALL_WINDOW) as job:
        first, second = job.worker("extract", "first"), job.worker("extract", "second")
        normalized(job, made[:20])
        first.work_here()
        normalized(job, made[20:50])
        second.work_here()
        assert differing(on_disk(first, "rows"), on_disk(second, "rows"))
        normalized(job, made[50:])
        first.work_here()
        assert differing(on_disk(first, "rows"), in_changelog(job, "rows")) == []
        assert assert_trees_equal_recount(job, on_disk(first, "rows"), EVICTION) == (1, 0)
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), EVICTION) == (1, 0)
        found = published_texts(job)
    assert found == undisturbed(made, EVICTION)


def test_a_worker_wakes_after_another_wrote(make_job: MakeJob) -> None:
    """A worker wakes after another worker has taken over its partition.

    The late write of the woken worker follows the other worker's writes in the changelog. Even so,
    the disk of the woken worker equals the changelog.
    """
    made = articles(40)
    with make_job(**SMALL_WINDOW) as job:
        normalized(job, made)
        zombie = job.worker("extract", "zombie", ["stop", "rows-changelog", FIFTH])
        zombie.start(wait=False)
        wait_until(zombie.is_frozen, "the worker to stop between put and changelog", zombie.log)
        other = job.worker("extract", "other").start()
        job.wait_through("extract")
        assert count(in_changelog(job, "rows")) == EVICTION.max_documents
        zombie.thaw()
        _wait_for_members(job, 2, zombie)
        other.stop()
        _wait_for_members(job, 1, zombie)
        zombie.stop()
        assert differing(on_disk(zombie, "rows"), in_changelog(job, "rows")) == []
        back = job.worker("extract", "zombie")
        normalized(job, articles(50)[40:])
        back.work_here()
        assert differing(on_disk(back, "rows"), in_changelog(job, "rows")) == []
        assert assert_trees_equal_recount(job, on_disk(back, "rows"), EVICTION) == (1, 0)
        found = published_texts(job)
    assert found == undisturbed(articles(50), EVICTION)


def test_an_old_page_delivered_three_times_among_others(make_job: MakeJob) -> None:
    """A page older than its domain's window is judged at each delivery, but the tree ignores it."""
    made = articles(30)
    old = replace(made[20], fetched_at=(START - OLD).isoformat())
    with make_job(**SMALL_WINDOW) as job:
        normalized(job, [*made[:20], old, *made[21:]])
        records = {documents.decode(r.value).meta["n"]: r for r in job.read("documents")}
        again = records[old.meta["n"]]
        copy = Sent(again.key, again.value, again.partition, again.headers)
        job.publish([copy], "documents")
        normalized(job, articles(40)[30:])
        job.publish([copy], "documents")
        worker = job.worker("extract")
        worker.work_here()
        times = Counter(value["meta"]["n"] for value in clean_texts(job) if not value["revision"])
        assert times.pop(old.meta["n"]) == 3
        assert set(times.values()) == {1}
        assert assert_trees_equal_recount(job, on_disk(worker, "rows"), EVICTION) == (1, 0)
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), EVICTION) == (1, 0)
        found = published_texts(job)
    calm = undisturbed([*made[:20], *made[21:], *articles(40)[30:]], EVICTION)
    others = {n: texts for n, texts in found.items() if n != old.meta["n"]}
    assert others == calm


def test_a_dead_letter_is_replayed(make_job: MakeJob) -> None:
    """A page refused for its size becomes clean text when it is replayed with a larger limit."""
    made = articles(12)
    large = replace(made[5], html=f"<p>{'long ' * 4_000}</p>")
    refused = [*made[:5], large, *made[6:]]
    with make_job(max_page_bytes=10_000) as job:
        normalize, other = job.worker("normalize"), job.worker("extract")
        normalized(job, refused)
        other.work_here()
        (letter,) = dead_letters(job)
        assert letter.reason == "too-large"
        assert count(in_changelog(job, "seen")) == len(made) - 1
        job.environment["URLTREE_MAX_PAGE_BYTES"] = "1000000"
        for _ in range(2):  # in the second round, `seen` already has this page
            assert job.command("dead-letters", "replay", "--all", "--yes") == {"replayed": 1}
            normalize.work_here()
            other.work_here()
        audit = job.audit()
        assert (audit.missing, audit.clean_text) == (0, len(made))
        origins = Counter(value["origin"] for value in clean_texts(job))
        assert origins[letter.origin] == 2
        assert len(job.read("duplicates")) == 0
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)


def test_replayed_after_a_tokenizer_upgrade(make_job: MakeJob) -> None:
    """Documents in flight keep their texts after an upgrade of the tokenizer.

    Rows of the old version do not count in trees, and rows of the new version count once.
    """
    made = articles(24)
    with make_job() as job:
        normalized(job, made[:12])
        job.worker("extract").work_here()
        before = published_texts(job)
        run(rewind(job.settings, "extract", beginning(job.settings, "documents")))
        upgraded = job.worker("extract", "extract", ["upgrade"])
        upgraded.start()
        job.wait_through("extract")
        new_normalize = job.worker("normalize", "normalize", ["upgrade"]).start()
        job.publish(map(keyed, made[12:]))
        job.wait_through()
        new_normalize.stop()
        upgraded.stop()
        rows = [Row.decode(row) for p in in_changelog(job, "rows").values() for row in p.values()]
        assert {n: texts for n, texts in published_texts(job).items() if n in before} == before
        assert differing(on_disk(upgraded, "rows"), in_changelog(job, "rows")) == []
        assert max(row.verdict.support for row in rows) == 12
    later = {n: texts for n, texts in published_texts(job).items() if n not in before}
    assert later == undisturbed(made[12:])


def _wait_for_members(job: Job, number: int, worker: Worker) -> None:
    """Wait until the group has `number` members, and the worker has recovered its partitions."""
    wait_until(
        lambda: len(run(members(job.settings, "extract"))) == number and worker.is_ready(),
        f"{number} members",
        worker.log,
    )
