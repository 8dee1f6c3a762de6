"""First pages are revised at the 20th page; a kill at any point loses or changes no revision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from tests.job.conftest import MakeJob
from tests.job.harness import Job
from tests.job.outcomes import clean_texts, outcomes
from tests.job.state import assert_trees_equal_recount, count, differing, in_changelog, on_disk
from tests.job.test_interleavings import articles, normalized
from urltree.extractor import extract
from urltree.page import Page
from urltree.site.first_pages import ENOUGH
from urltree.site.row import Row

thorough = pytest.mark.thorough
PAGES = ENOUGH + 6  # the last 6 pages are learned while the revisions are being confirmed

Text = tuple[str, int, str]  # meta string `n` of a page, revision, text


def published_texts(job: Job) -> list[Text]:
    """Return all published texts, in the order of the records in each partition."""
    return [(value["meta"]["n"], value["revision"], value["text"]) for value in clean_texts(job)]


def undisturbed(made: Sequence[Page]) -> set[Text]:
    """Return the texts that the library extracts from these pages."""
    found = extract(made, eviction=None, revise=True)
    return {(e.meta["n"], e.revision, e.text or "") for e in found}


def last(texts: Iterable[Text]) -> dict[str, Text]:
    """Return the last text of each page, by the page's meta string `n`."""
    return {text[0]: text for text in texts}


def param(
    action: str, topic: str, number: int, disk: str, name: str, *marks: pytest.MarkDecorator
) -> Any:
    """Return a test parameter: a fault of `runner.py`, and the disk of the next worker."""
    return pytest.param([action, topic, str(number)], disk, id=name, marks=marks)


@pytest.mark.parametrize(
    ("fault", "disk"),
    [
        param("lose", "first-changelog", 5, "same", "a page is kept on disk only", thorough),
        param("lose", "first-changelog", 5, "empty", "a page is not kept"),
        param("die", "rows-changelog", 24, "same", "a row is revised on disk only"),
        param("lose", "rows-changelog", 24, "empty", "a revised row is lost", thorough),
        param("die", "clean-text", 23, "same", "before a revision is published", thorough),
        param("lose", "clean-text", 23, "same", "a revision is lost"),
        param("lose", "clean-text", 23, "empty", "a revision is lost, new disk", thorough),
        param("die", "first-changelog", 20, "same", "none is dropped", thorough),
        param("die", "first-changelog", 30, "same", "half are dropped", thorough),
        param("lose", "first-changelog", 30, "empty", "half are dropped, new disk"),
    ],
)
def test_killed_while_first_pages_are_revised(
    make_job: MakeJob, fault: list[str], disk: str
) -> None:
    """After a kill, each revision equals the library's, and no page stays in the table `first`.

    Each row of a revised page has both verdicts.
    """
    made = articles(PAGES)
    with make_job(evict=False) as job:
        normalized(job, made)
        job.environment["URLTREE_COMMIT_SECONDS"] = "3600"  # all records are delivered again
        job.worker("extract", "extract", fault).start(wait=False).wait_end()
        job.environment["URLTREE_COMMIT_SECONDS"] = "0.5"
        again = job.worker("extract", "extract")
        if disk == "empty":
            again.wipe()
        again.work_here()
        texts, found = published_texts(job), outcomes(job)
        rows = [Row.decode(row) for p in in_changelog(job, "rows").values() for row in p.values()]
        assert (count(in_changelog(job, "first")), count(on_disk(again, "first"))) == (0, 0)
        assert differing(on_disk(again, "rows"), in_changelog(job, "rows")) == []
        assert assert_trees_equal_recount(job, in_changelog(job, "rows"), None) == (1, 0)
        audit = job.audit()
        assert (audit.clean_text, audit.missing) == (PAGES, 0)
    calm = undisturbed(made)
    revised = {n for n, revision, _ in calm if revision}
    assert not found.missing
    assert len(revised) > 1
    assert set(texts) <= calm  # a lost first verdict is not published after the second verdict
    assert last(texts) == last(sorted(calm))
    assert not any(row.waits for row in rows)
    assert sum(row.revised is not None for row in rows) == len(revised)


def test_a_partition_moves_before_the_twentieth_page(make_job: MakeJob) -> None:
    """The next worker of a partition restores the first pages from the changelog.

    The former worker deletes them from its disk when it gets the partition back.
    """
    made = articles(PAGES)
    with make_job(evict=False) as job:
        first, second = job.worker("extract", "first"), job.worker("extract", "second")
        for worker, part in ((first, made[:10]), (second, made[10:]), (first, [])):
            normalized(job, part)
            worker.work_here()
        texts = published_texts(job)
        assert differing(on_disk(first, "first"), in_changelog(job, "first")) == []
        assert count(in_changelog(job, "first")) == 0
    assert len(texts) == len(set(texts))
    assert set(texts) == undisturbed(made)


def test_nothing_is_revised_where_it_is_switched_off(make_job: MakeJob) -> None:
    """With revisions switched off, each page is published once.

    First pages that were stored before are deleted.
    """
    made = articles(PAGES)
    with make_job(evict=False) as job:
        normalized(job, made[:10])
        job.worker("extract").work_here()
        assert count(in_changelog(job, "first")) == 10
        job.environment["URLTREE_REVISE"] = "false"
        normalized(job, made[10:])
        job.worker("extract").work_here()
        assert count(in_changelog(job, "first")) == 0
        assert [revision for _, revision, _ in published_texts(job)] == [0] * PAGES
