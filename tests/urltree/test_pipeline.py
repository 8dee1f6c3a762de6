"""The pipeline turns a page into clean text, and returns the records for its caller to store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import pytest

from agents.settings.job import Settings
from urltree.address.url_key import KeyScheme
from urltree.cli.main import extract as extract_command
from urltree.document import Document
from urltree.page import Page, PageError
from urltree.pipeline import Options, Pipeline, Prepared, Superseded, help_of
from urltree.site.deduplication import Arrival, Duplicate, Step
from urltree.site.seen import Horizon
from urltree.site.site import Learned, Relation, Site

SCHEME = KeyScheme()
SHARED = {"heuristic", "rules", "query", "revisits", "markdown", "metadata", "single_page"}


class Store:
    """The stored records of one site as dictionaries: a SeenStore and a RowStore."""

    def __init__(self) -> None:
        self.horizon = Horizon()
        self.seen_records: dict[bytes, bytes] = {}
        self.row_records: dict[bytes, bytes] = {}
        self.first: dict[bytes, bytes] = {}

    @property
    def documents(self) -> int:
        """Number of documents that the site has forwarded."""
        return len(self.seen_records)

    def seen(self, document_id: bytes) -> bytes | None:
        """Return the encoded `seen` record of a document."""
        return self.seen_records.get(document_id)

    def row(self, document_id: bytes) -> bytes | None:
        """Return the encoded row of a document."""
        return self.row_records.get(document_id)

    def rows(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and encoded row."""
        return self.row_records.items()

    def first_page(self, document_id: bytes) -> bytes | None:
        """Return the bytes of a first page."""
        return self.first.get(document_id)

    def first_pages(self) -> Iterable[tuple[bytes, bytes]]:
        """Return the pairs of document id and bytes of a first page."""
        return self.first.items()


def page(number: int, text: str = "A paragraph of its own.") -> Page:
    """Return a page of example.org."""
    html = f"<article><h1>Story {number}</h1><p>{text}</p></article>"
    return Page(url=f"https://example.org/news/{number}", html=html)


def prepared(pipeline: Pipeline, store: Store, given: Page, origin: str) -> Prepared:
    """Prepare a page that is not a duplicate, and store its `seen` record."""
    found = pipeline.prepare(given, origin, [SCHEME], store)
    assert isinstance(found, Prepared)
    store.seen_records[found.document.key_bytes] = found.seen.encode()
    return found


def learned(pipeline: Pipeline, store: Store, site: Site, document: Document) -> Learned:
    """Learn a document, and put its row and its first-page bytes into the store."""
    found = pipeline.learn(document, site, store)
    assert isinstance(found, Learned)
    store.row_records[document.key_bytes] = found.row
    if found.kept is not None:
        store.first[document.key_bytes] = found.kept
    return found


def test_a_page_becomes_clean_text() -> None:
    """A new page gets a document, a `seen` record, a row and an extraction."""
    pipeline, store = Pipeline(Options()), Store()
    document, _, arrival = prepared(pipeline, store, page(1), "t/0/1")
    found = learned(pipeline, store, pipeline.new_site(), document)
    extraction = pipeline.extraction(document, found.verdict)
    assert (arrival, found.relation) == (Arrival.NEW, Relation.NEW)
    assert extraction.text == "Story 1\nA paragraph of its own."


def test_the_same_page_under_another_origin_is_a_duplicate() -> None:
    """A duplicate names the origin of the first copy, and the step that revealed the duplicate."""
    pipeline, store = Pipeline(Options()), Store()
    prepared(pipeline, store, page(1), "t/0/1")
    found = pipeline.prepare(page(1), "t/0/2", [SCHEME], store)
    assert isinstance(found, Duplicate)
    assert (found.first_origin, found.step) == ("t/0/1", Step.REQUEST_URL)


def test_a_replay_gets_the_stored_row_and_verdict() -> None:
    """If a record arrives again after a crash, its stored row and its verdict stay the same."""
    pipeline, store = Pipeline(Options()), Store()
    site, document = pipeline.new_site(), prepared(pipeline, store, page(1), "t/0/1").document
    first = learned(pipeline, store, site, document)
    again = prepared(pipeline, store, page(1), "t/0/1")
    replayed = learned(pipeline, store, site, again.document)
    assert (again.arrival, replayed.relation) == (Arrival.REPLAY, Relation.REPLAY)
    assert (replayed.row, replayed.verdict) == (first.row, first.verdict)


def test_an_earlier_version_does_not_replace_a_later_one() -> None:
    """If the first version is replayed after the second was learned, it is superseded."""
    pipeline, store = Pipeline(Options(revisits="replace")), Store()
    site = pipeline.new_site()
    earlier = prepared(pipeline, store, page(1), "t/0/1").document
    later = prepared(pipeline, store, page(1, "The story has changed."), "t/0/2").document
    learned(pipeline, store, site, earlier)
    learned(pipeline, store, site, later)
    assert pipeline.learn(earlier, site, store) == Superseded(earlier, "t/0/2")


def test_a_site_is_opened_from_its_rows() -> None:
    """A site that was rebuilt gives the same verdict as the site that was in memory."""
    pipeline, store = Pipeline(Options()), Store()
    site = pipeline.new_site()
    for number in range(5):
        learned(
            pipeline, store, site, prepared(pipeline, store, page(number), f"t/0/{number}").document
        )
    opened = pipeline.open_site(store)
    document = prepared(pipeline, store, page(9), "t/0/9").document
    assert (opened.stale, opened.dropped) == ([], [])
    assert opened.site.learn(document, None) == site.learn(document, None)


def test_a_first_page_that_is_not_stored_cannot_be_revised() -> None:
    """To revise a first page that is not stored raises LookupError with the id of the page."""
    pipeline, store = Pipeline(Options(revise=True)), Store()
    with pytest.raises(LookupError, match="first page 00ff is not stored"):
        pipeline.revise(b"\x00\xff", pipeline.new_site(), store)


def test_a_page_without_url_is_refused_by_the_job_alone() -> None:
    """The job needs a URL for the key of its records; the library does not."""
    without = Page(url=None, html="<p>text")
    Pipeline(Options(), url_required=False).admit(without)
    with pytest.raises(PageError, match="url"):
        Pipeline(Options()).admit(without)


def test_each_option_has_a_help_text() -> None:
    """The help text of each option ends with a full stop."""
    assert all(help_of(each.name).endswith(".") for each in fields(Options))


@pytest.mark.parametrize("name", sorted(SHARED))
def test_command_and_job_take_options_from_their_declaration(name: str) -> None:
    """The command and the job take the help text of each option from `Options`.

    The job also takes the default of the option from there.
    """
    option = next(each for each in extract_command.params if each.name == name)
    setting = Settings.model_fields[name]
    assert option.help == setting.description == help_of(name)  # type: ignore[attr-defined]
    assert setting.default == getattr(Options(), name)
