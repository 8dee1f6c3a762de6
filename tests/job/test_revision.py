"""First pages are judged again at 20: a kill at any point loses no revision, and changes none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from tests.job.conftest import MakeJob
from tests.job.harness import Job
from tests.job.outcomes import clean_texts, outcomes
from tests.job.state import assert_trees_equal_recount, count, differing, in_changelog, on_disk
from tests.job.test_interleavings import articles, extracted, normalized
from urltree.extractor import extract
from urltree.page import Page
from urltree.site.first_pages import ENOUGH
from urltree.site.row import Row

PAGES = ENOUGH + 6  # the last are learned while the revisions are being confirmed

Text = tuple[str, int, str]  # a page's n, revision, text


def said(job: Job) -> list[Text]:
    """All that was said, in its order."""
    return [(value["meta"]["n"], value["revision"], value["text"]) for value in clean_texts(job)]


def undisturbed(made: Sequence[Page]) -> set[Text]:
    """What the library says of these pages."""
    found = extract(made, eviction=None, revise=True)
    return {(e.meta["n"], e.revision, e.text or "") for e in found}


def last(texts: Iterable[Text]) -> dict[str, Text]:
    """What was said last of each page."""
    return {text[0]: text for text in texts}


@pytest.mark.parametrize(
    ("fault", "disk"),
    [
        pytest.param(["lose", "first-changelog", "5"], "same", id="a page is kept on disk only"),
        pytest.param(["lose", "first-changelog", "5"], "empty", id="a page is not kept"),
        pytest.param(["die", "rows-changelog", "24"], "same", id="a row is revised on disk only"),
        pytest.param(["lose", "rows-changelog", "24"], "empty", id="a revised row is lost"),
        pytest.param(["die", "clean-text", "23"], "same", id="before a revision is said"),
        pytest.param(["lose", "clean-text", "23"], "same", id="a revision is lost"),
        pytest.param(["lose", "clean-text", "23"], "empty", id="a revision is lost, new disk"),
        pytest.param(["die", "first-changelog", "20"], "same", id="none is dropped"),
        pytest.param(["die", "first-changelog", "30"], "same", id="half are dropped"),
        pytest.param(["lose", "first-changelog", "30"], "empty", id="half are dropped, new disk"),
    ],
)
def test_killed_while_first_pages_are_revised(
    make_job: MakeJob, fault: list[str], disk: str
) -> None:
    """Each is said again as the library says it, its row has both verdicts, none is kept."""
    made = articles(PAGES)
    with make_job(evict=False) as job:
        normalized(job, made)
        job.environment["URLTREE_COMMIT_SECONDS"] = "3600"  # all is delivered again
        job.worker("extract", "extract", fault).start(wait=False).wait_end()
        job.environment["URLTREE_COMMIT_SECONDS"] = "0.5"
        again = job.worker("extract", "extract")
        if disk == "empty":
            again.wipe()
        extracted(job, again)
        texts, found = said(job), outcomes(job)
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
    assert set(texts) <= calm  # a first verdict that was lost is not said again after a second
    assert last(texts) == last(sorted(calm))
    assert not any(row.waits for row in rows)
    assert sum(row.revised is not None for row in rows) == len(revised)


def test_a_partition_moves_before_the_twentieth_page(make_job: MakeJob) -> None:
    """Its next owner has what was kept from the changelog; the former one's disk forgets it."""
    made = articles(PAGES)
    with make_job(evict=False) as job:
        first, second = job.worker("extract", "first"), job.worker("extract", "second")
        for worker, part in ((first, made[:10]), (second, made[10:]), (first, [])):
            normalized(job, part)
            extracted(job, worker)
        texts = said(job)
        assert differing(on_disk(first, "first"), in_changelog(job, "first")) == []
        assert count(in_changelog(job, "first")) == 0
    assert len(texts) == len(set(texts))
    assert set(texts) == undisturbed(made)


def test_nothing_is_revised_where_it_is_switched_off(make_job: MakeJob) -> None:
    """Each page is said once; what was kept before is dropped."""
    made = articles(PAGES)
    with make_job(evict=False) as job:
        normalized(job, made[:10])
        extracted(job, job.worker("extract", "extract"))
        assert count(in_changelog(job, "first")) == 10
        job.environment["URLTREE_REVISE"] = "false"
        normalized(job, made[10:])
        extracted(job, job.worker("extract", "extract"))
        assert count(in_changelog(job, "first")) == 0
        assert [revision for _, revision, _ in said(job)] == [0] * PAGES
