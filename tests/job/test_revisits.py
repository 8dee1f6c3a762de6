"""A kill between two versions of a page never lets an older version replace a newer one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import orjson
import pytest

from models import duplicate
from tests.job.conftest import MakeJob
from tests.job.harness import Job
from tests.job.kafka_records import keyed
from tests.job.outcomes import outcomes
from tests.job.pages import START, Site
from tests.job.state import assert_trees_equal_recount, differing, in_changelog, on_disk
from tests.job.test_interleavings import normalized
from urltree.extractor import extract
from urltree.page import Page
from urltree.site.deduplication import Step

ARTICLES = 6
VERSIONS = 3
SEEN = ("normalize", ["lose", "seen-changelog", "9"])  # a stage and a fault of `runner.py`
ROWS = ("extract", ["lose", "rows-changelog", "9"])

thorough = pytest.mark.thorough


def versions() -> list[Page]:
    """Return three versions of each article, in three rounds; the last round changes only half."""
    site, random = Site("site0.example", []), Random(1)
    first = [site.article(n, random) for n in range(ARTICLES)]
    rounds = [
        [_version(page, number if n % 2 else min(number, 1)) for n, page in enumerate(first)]
        for number in range(VERSIONS)
    ]
    made = [page for pages in rounds for page in pages]
    return [
        replace(page, fetched_at=(START + timedelta(hours=n)).isoformat(), meta={"n": str(n)})
        for n, page in enumerate(made)
    ]


def _version(page: Page, number: int) -> Page:
    html = str(page.html).replace("<div class=article>", f"<div class=article><p>Update {number}.")
    return replace(page, html=html)


def published_texts(job: Job) -> list[tuple[str, int, str]]:
    """Return id, index and text of each record in clean-text; `n` is the index of its page."""
    values = [orjson.loads(record.value or b"null") for record in job.read("clean-text")]
    return [(value["id"], int(value["meta"]["n"]), value["text"]) for value in values]


def undisturbed(made: Sequence[Page]) -> dict[str, tuple[int, str]]:
    """Return the index and text of each id's last version, as the library extracts it."""
    found = extract(made, eviction=None, revise=True, revisits="replace")
    return {e.id or "": (int(e.meta["n"]), e.text or "") for e in found if e.status == "ok"}


@pytest.mark.parametrize(
    ("stage", "fault", "disk"),
    [
        pytest.param("normalize", ["lose", "documents", "9"], "same", id="a forward is lost"),
        pytest.param(*SEEN, "same", id="seen's changelog", marks=thorough),
        pytest.param(*SEEN, "empty", id="seen, new disk"),
        pytest.param(
            *("normalize", ["die", "duplicates", "2"], "same"),
            id="all were superseded",
            marks=thorough,
        ),
        pytest.param(*ROWS, "same", id="a row's changelog", marks=thorough),
        pytest.param(*ROWS, "empty", id="a row, new disk"),
        pytest.param("extract", ["die", "clean-text", "14"], "same", id="before a third version"),
    ],
)
def test_killed_between_two_versions(
    make_job: MakeJob, stage: str, fault: list[str], disk: str
) -> None:
    """Every page has an outcome, and each id's last version is published after all others."""
    made = versions()
    with make_job(revisits="replace", evict=False) as job:
        if stage == "extract":
            normalized(job, made)
        else:
            job.publish(map(keyed, made))
        job.environment["URLTREE_COMMIT_SECONDS"] = "3600"  # all records are delivered again
        job.worker(stage, stage, fault).start(wait=False).wait_end()
        job.environment["URLTREE_COMMIT_SECONDS"] = "0.5"
        again = job.worker(stage, stage)
        if disk == "empty":
            again.wipe()
        again.work_here()
        if stage == "normalize":
            job.worker("extract").work_here()
        found = outcomes(job)
        assert not found.missing
        steps = Counter(duplicate.decode(record.value).step for record in job.read("duplicates"))
        if disk == "same":  # an empty disk may not have the later versions yet
            assert steps[Step.SUPERSEDED] > 0, "no older version was delivered again"
        table = "seen" if stage == "normalize" else "rows"
        assert differing(on_disk(again, table), in_changelog(job, table)) == []
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)
        assert job.audit().missing == 0
        texts = published_texts(job)
    last, calm = {each[0]: each for each in texts}, undisturbed(made)
    assert {document_id: n for document_id, n, _ in last.values()} == {
        document_id: n for document_id, (n, _) in calm.items()
    }
    if stage == "extract":  # after a kill of `normalize`, not all versions are learned
        assert {document_id: (n, text) for document_id, n, text in last.values()} == calm
    for document_id in {each[0] for each in texts}:
        order = [n for each, n, _ in texts if each == document_id]
        assert order == sorted(order), "an older version was published after a later one"
