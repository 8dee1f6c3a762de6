"""The same pages give the same values through the job and through the library.

The job has one or three `extract` workers. Pages are published with the right keys, by a producer
that partitions by CRC32, or without keys. Outcomes are compared page by page, by the string `n`
that each page carries; clean text is compared with all its fields but the origin.

Verdicts depend on the order of a domain's pages, and Kafka keeps order only within a partition. If
values are compared, pages without keys are therefore published to one partition. If such pages are
spread over all partitions, they still give the same documents and trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import orjson
import pytest

from models import clean_text, duplicate
from models.dead_letter import DeadLetter
from tests.conftest import Record
from tests.job.conftest import MakeJob
from tests.job.harness import Job
from tests.job.kafka_records import PARTITIONS, Sent, keyed, keyed_by_crc32, unkeyed
from tests.job.outcomes import clean_texts
from tests.job.pages import pages, with_revisits
from tests.job.state import assert_trees_equal_recount, in_changelog
from urltree.extractor import extract
from urltree.output.extraction import Extraction
from urltree.page import Page
from urltree.site.revisits import Revisits
from urltree.tree.window import DAY, Eviction

PAGES = 600
EVICTION = Eviction(max_documents=60, max_age=10 * DAY, keep=20)
SETTINGS = {"max_documents": 60, "max_age_days": 10, "keep": 20, "markdown": True, "metadata": True}

thorough = pytest.mark.thorough
Outcome = tuple[Any, ...]


class Library(NamedTuple):
    """Pages of seven sites in order, and the library's outcome of each page by its `n`."""

    pages: list[Page]
    outcomes: dict[str, Outcome]


@pytest.fixture(scope="module")
def library() -> Library:
    """Return pages of seven sites, and the library's outcomes of them."""
    return outcomes_of_library(pages(PAGES, seed=5))


def outcomes_of_library(
    made: list[Page], revisits: Revisits = "drop", eviction: Eviction | None = EVICTION
) -> Library:
    """Return the library's outcomes of pages, with the options of SETTINGS."""
    options: dict[str, Any] = {"eviction": eviction, "markdown": True, "metadata": True}
    first: dict[str, str] = {}
    found = {}
    for extraction in extract(made, revise=True, revisits=revisits, **options):
        # a revision comes after the page that caused it, and replaces its page's first outcome
        n = first.setdefault(extraction.origin, str(len(first)))
        found[n] = _of_library(extraction, first)
    return Library(made, found)


def _of_library(found: Extraction, first: dict[str, str]) -> Outcome:
    if found.status == "ok":
        return ("ok", _without_origin(orjson.loads(clean_text.encode(found))))
    if found.status == "duplicate":
        return ("duplicate", found.id, found.duplicate_step, first[found.duplicate_of or ""])
    return ("error", found.error, found.message)


def _without_origin(value: dict[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in value.items() if name != "origin"}


def of_job(job: Job, origins: Sequence[str]) -> dict[str, Outcome]:
    """Return the job's outcome of each page, by the page's index among the origins."""
    n_of = {origin: str(n) for n, origin in enumerate(origins)}
    found: dict[str, Outcome] = {}
    for value in clean_texts(job):
        found[n_of[value["origin"]]] = ("ok", _without_origin(value))
    for record in job.read("duplicates"):
        one = duplicate.decode(record.value)
        found[n_of[one.origin]] = ("duplicate", one.id, one.step, n_of[one.first_origin])
    for record in job.read("dead-letters"):
        letter = DeadLetter.from_record(record.key, record.value, record.headers)
        found[n_of[letter.origin]] = ("error", letter.reason, letter.message)
    return found


def processed(job: Job, records: Sequence[Sent], workers: int) -> list[str]:
    """Publish pages, and let `normalize` and a number of `extract` workers process them.

    Returns:
        The origins of the pages.
    """
    extractors = [job.worker("extract", f"extract-{n}") for n in range(workers)]
    return job.process_here(records, job.worker("normalize"), *extractors)


@pytest.mark.parametrize(
    ("workers", "publish"),
    [
        pytest.param(1, keyed, id="one worker, right keys", marks=thorough),
        pytest.param(3, keyed, id="three workers, right keys"),
        pytest.param(1, keyed_by_crc32, id="one worker, keys where CRC32 puts them"),
        pytest.param(3, unkeyed, id="three workers, no keys", marks=thorough),
    ],
)
def test_kafka_says_what_the_library_says(
    make_job: MakeJob,
    record: Record,
    library: Library,
    workers: int,
    publish: Callable[[Page], Sent],
) -> None:
    """Job and library give the same outcome of each page, with the same fields of clean text."""
    with make_job(**SETTINGS) as job:
        origins = processed(job, [publish(page) for page in library.pages], workers)
        found = of_job(job, origins)
    differ = [n for n, said in library.outcomes.items() if found.get(n) != said]
    kinds = [outcome[0] for outcome in found.values()]
    record(
        f"job and library: {workers} extract workers, {publish.__name__}: {len(differ)} of "
        f"{PAGES} pages differ from urltree.extract ({kinds.count('ok')} clean texts, "
        f"{kinds.count('duplicate')} duplicates, {kinds.count('error')} dead letters)"
    )
    assert any(said[1]["revision"] for said in found.values() if said[0] == "ok")
    assert differ == []
    assert found.keys() == library.outcomes.keys()


def test_kafka_replaces_revisits_as_the_library_does(make_job: MakeJob, record: Record) -> None:
    """Job and library give the same outcome of each version of a page.

    The trees count only the last versions.
    """
    library = outcomes_of_library(with_revisits(pages(200, seed=7)), "replace")
    with make_job(**SETTINGS, revisits="replace") as job:
        origins = processed(job, [keyed(page) for page in library.pages], 1)
        found = of_job(job, origins)
        assert_trees_equal_recount(job, in_changelog(job, "rows"), EVICTION)
        audit = job.audit()
    texts = [said[1] for said in found.values() if said[0] == "ok"]
    versions = len(texts) - len({text["id"] for text in texts})
    record(f"job and library: {versions} of {len(texts)} clean texts superseded another in both")
    assert found == library.outcomes
    assert versions > 0
    assert (audit.missing, audit.clean_text) == (0, len(texts))


def test_pages_without_keys_in_all_partitions_give_the_same_trees(
    make_job: MakeJob, record: Record, library: Library
) -> None:
    """Without keys, the order of a domain's pages is lost, so another copy may be the duplicate.

    The ids of clean texts and the numbers of errors stay the same, and the trees equal their
    recount.
    """
    with make_job(evict=False) as job:
        origins = processed(
            job, [unkeyed(page, n % PARTITIONS) for n, page in enumerate(library.pages)], 1
        )
        found = of_job(job, origins)
        trees, _ = assert_trees_equal_recount(job, in_changelog(job, "rows"), None)
    both = (found, library.outcomes)
    ids = [{said[1]["id"] for said in all_.values() if said[0] == "ok"} for all_ in both]
    kinds = [sorted(said[0] for said in all_.values()) for all_ in both]
    record(
        f"job and library: no keys, all partitions: {len(ids[0] ^ ids[1])} ids differ, "
        f"{trees} trees"
    )
    assert ids[0] == ids[1]
    assert [kinds[0].count("error"), len(kinds[0])] == [kinds[1].count("error"), len(kinds[1])]
