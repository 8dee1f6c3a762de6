"""Revisits, replaced: a kill at any point between two versions brings none of the older back."""

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
from tests.job.test_interleavings import extracted_here, normalized
from urltree.extractor import extract
from urltree.page import Page
from urltree.site.deduplication import Step

ARTICLES = 6
VERSIONS = 3


def versions() -> list[Page]:
    """Each article in three versions, round by round; in the last round half are as before."""
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


def said(job: Job) -> list[tuple[str, int, str]]:
    """All clean texts in their order: id, place among the pages, text."""
    values = [orjson.loads(record.value or b"null") for record in job.read("clean-text")]
    return [(value["id"], int(value["meta"]["n"]), value["text"]) for value in values]


def undisturbed(made: Sequence[Page]) -> dict[str, tuple[int, str]]:
    """What stands under each id in the end, by the library."""
    found = extract(made, eviction=None, revise=True, revisits="replace")
    return {e.id or "": (int(e.meta["n"]), e.text or "") for e in found if e.status == "ok"}


@pytest.mark.parametrize(
    ("stage", "fault", "disk"),
    [
        pytest.param("normalize", ["lose", "documents", "9"], "same", id="a forward is lost"),
        pytest.param("normalize", ["lose", "seen-changelog", "9"], "same", id="seen's changelog"),
        pytest.param("normalize", ["lose", "seen-changelog", "9"], "empty", id="seen, new disk"),
        pytest.param("normalize", ["die", "duplicates", "2"], "same", id="all were superseded"),
        pytest.param("extract", ["lose", "rows-changelog", "9"], "same", id="a row's changelog"),
        pytest.param("extract", ["lose", "rows-changelog", "9"], "empty", id="a row, new disk"),
        pytest.param("extract", ["die", "clean-text", "14"], "same", id="before a third version"),
    ],
)
def test_killed_between_two_versions(
    make_job: MakeJob, stage: str, fault: list[str], disk: str
) -> None:
    """Every page has an outcome; under each id the last version stands, said after all others."""
    made = versions()
    with make_job(revisits="replace", evict=False) as job:
        if stage == "extract":
            normalized(job, made)
        else:
            job.publish(map(keyed, made))
        job.environment["URLTREE_COMMIT_SECONDS"] = "3600"  # all is delivered again
        job.worker(stage, stage, fault).start(wait=False).wait_end()
        job.environment["URLTREE_COMMIT_SECONDS"] = "0.5"
        again = job.worker(stage, stage)
        if disk == "empty":
            again.wipe()
        again.start()
        job.wait_through(stage)
        again.stop()
        if stage == "normalize":
            extracted_here(job)
        found = outcomes(job)
        assert not found.missing
        steps = Counter(duplicate.decode(record.value).step for record in job.read("duplicates"))
        if disk == "same":  # a new one may know nothing of later versions yet
            assert steps[Step.SUPERSEDED] > 0, "no older version was delivered again"
        table = "seen" if stage == "normalize" else "rows"
        assert differing(on_disk(again, table), in_changelog(job, table)) == []
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)
        assert job.audit().missing == 0
        texts = said(job)
    last, calm = {each[0]: each for each in texts}, undisturbed(made)
    assert {document_id: n for document_id, n, _ in last.values()} == {
        document_id: n for document_id, (n, _) in calm.items()
    }
    if stage == "extract":  # what `normalize` did not forward again was not learned meanwhile
        assert {document_id: (n, text) for document_id, n, text in last.values()} == calm
    for document_id in {each[0] for each in texts}:
        order = [n for each, n, _ in texts if each == document_id]
        assert order == sorted(order), "an older version was said after a later one"
