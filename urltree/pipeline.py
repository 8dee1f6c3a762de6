"""The pipeline: the only place that composes the steps from a page to its clean text.

    Page ──▶ admit ──▶ prepare ──┬▶ Prepared: Document, `seen` record to store
                         ▲       └▶ Duplicate
                         │ SeenStore: the `seen` records of the site

    Document ──▶ learn ──┬▶ Learned: Verdict, row and first page to store, ids to delete
                  ▲      └▶ Superseded: a later version of the page is stored
                  │ RowStore: rows and first pages; Site: its tree in memory

    Document, Verdict ──▶ extraction ──▶ Extraction: the clean text
    id of a first page ──▶ revise ──▶ Revised: row to store, revised Extraction to publish

No function here stores or publishes anything. Each function returns its effects, and the caller
carries them out: the library on dictionaries, and the job on tables and topics. In the job, the
agent `normalize` calls `prepare`, and the agent `extract` calls `learn`. Therefore the results of
the library and the job cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import NamedTuple, Protocol, TypeVar, get_args

from urltree.address.url_key import KeyScheme, Query, UrlKey
from urltree.document import Document
from urltree.enrich.fallback import SinglePage, add_vouched_blocks, require_extractor
from urltree.enrich.metadata import find_metadata, require_metadata_libraries
from urltree.heuristics.protocol import Verdict
from urltree.heuristics.registry import DEFAULT, NAMES, heuristic
from urltree.html.blocks import TokenizedPage
from urltree.html.tokenizer import tokenize
from urltree.output.extraction import Blocks, Extraction, clean_text
from urltree.page import Page
from urltree.reading.admission import admit
from urltree.site.deduplication import Arrival, Duplicate, decide
from urltree.site.packed_document import unpack
from urltree.site.revisits import Revisits, content_digest, superseded_by
from urltree.site.row import Row
from urltree.site.seen import Horizon, Seen
from urltree.site.site import Learned, Site
from urltree.tree.window import Eviction

MAX_PAGE_BYTES = 10 << 20  # largest HTML of a page, in bytes
EVICTION = Eviction()

T = TypeVar("T")


def _option(default: T, help_: str) -> T:
    """Declare an option with its default and its help text."""
    return field(default=default, metadata={"help": help_})


@dataclass(kw_only=True)
class Options:
    """The options of the pipeline: the one declaration of their names, defaults and help texts.

    The library takes them as arguments, the command as options, and the job as settings.
    """

    heuristic: str = _option(
        DEFAULT, f"Heuristic that decides what is boilerplate: one of {', '.join(NAMES)}."
    )
    rules: str | PathLike[str] | None = _option(
        None, "YAML file with your own query rules, which are tried before the shipped rules."
    )
    query: Query = _option(
        "known-noise",
        "What to remove from the query of a URL to which no rule applies: `known-noise` removes "
        "known tracking and session parameters, `drop` removes the whole query.",
    )
    eviction: Eviction | None = _option(
        EVICTION,
        "Limits of the number and age of the documents from which a site is learned; None has no "
        "limits.",
    )
    revise: bool = _option(
        default=False,
        help_="Judge the first pages of a site again when 20 pages of the site are known. If the "
        "text of a page changes, the page is published again as revision 1.",
    )
    revisits: Revisits = _option(
        "drop",
        "What to do with a page that was fetched again and has changed: `drop` treats it as a "
        "duplicate, `replace` publishes it again under the same id.",
    )
    markdown: bool = _option(default=False, help_="Add the text as Markdown.")
    metadata: bool = _option(
        default=False,
        help_="Add the date, author, description and language that are found in the page; needs "
        "the extra `metadata`.",
    )
    single_page: SinglePage = _option(
        "none",
        "Extractor that judges each page alone; its result improves the text of the first pages "
        "of a site. `trafilatura` needs the extra `single-page`.",
    )

    def check(self) -> None:
        """Check the options before the first page arrives.

        Raises:
            ValueError, TypeError: an option is wrong, or its extra is missing.
        """
        if self.eviction is not None and not isinstance(self.eviction, Eviction):
            raise TypeError(f"eviction should be an Eviction or None, is {self.eviction!r}")
        if not isinstance(self.heuristic, str):
            raise TypeError(f"heuristic should be a name, is {self.heuristic!r}")
        heuristic(self.heuristic)
        if self.revisits not in get_args(Revisits):
            raise ValueError(f"revisits should be drop or replace, is {self.revisits!r}")
        if self.metadata:
            require_metadata_libraries()
        require_extractor(self.single_page)


def help_of(option: str) -> str:
    """Return the help text of an option."""
    return str(next(f.metadata["help"] for f in fields(Options) if f.name == option))


class SeenStore(Protocol):
    """The `seen` records of one site, as the caller stores them."""

    @property
    def horizon(self) -> Horizon:
        """Horizon of the site: the time before which `seen` records no longer count."""

    @property
    def documents(self) -> int:
        """Number of documents of the site that have a `seen` record."""

    def seen(self, document_id: bytes) -> bytes | None:
        """Return the encoded `seen` record of a document, or None if there is none."""


class RowStore(Protocol):
    """The rows and first pages of one site, as the caller stores them."""

    def row(self, document_id: bytes) -> bytes | None:
        """Return the encoded row of a document, or None if there is none."""

    def rows(self) -> Iterable[tuple[bytes, bytes]]:
        """Return all rows as pairs of document id and encoded row."""

    def first_page(self, document_id: bytes) -> bytes | None:
        """Return the bytes of a first page, or None if the page is not stored."""

    def first_pages(self) -> Iterable[tuple[bytes, bytes]]:
        """Return all first pages as pairs of document id and bytes."""


class Prepared(NamedTuple):
    """The result of `prepare` for a page that becomes a document.

    Attributes:
        document: document to learn.
        seen: record to store under the document's domain and id. A replay stores the record again,
            because a crash may have lost the first write.
        arrival: reason why the page becomes a document. Only for a new page does the caller add the
            time of `seen` to the horizon of the site.
    """

    document: Document
    seen: Seen
    arrival: Arrival


class Superseded(NamedTuple):
    """A replayed document that is not learned, because a later version of its page is stored.

    Attributes:
        document: the earlier version.
        by: origin of the later version.
    """

    document: Document
    by: str


class Opened(NamedTuple):
    """A site that was rebuilt from its rows.

    Attributes:
        site: the site in memory.
        stale: ids of the documents whose rows the caller must delete.
        dropped: ids of the first pages that the caller must delete.
    """

    site: Site
    stale: list[bytes]
    dropped: list[bytes]


class Revised(NamedTuple):
    """The result of judging a first page again; the caller then deletes the first page.

    Attributes:
        row: encoded row to store; None if the row has been deleted.
        extraction: extraction to publish as revision 1; None if the text has not changed.
    """

    row: bytes | None
    extraction: Extraction | None


class Pipeline:
    """The steps from a page to its clean text, with the options of one run.

    Args:
        options: options of the run.
        blocks: blocks that an extraction lists in addition to the text.
        max_page_bytes: largest allowed size of a page's HTML in bytes.
        url_required: whether a page without URL is refused.

    Raises:
        ValueError, TypeError: an option is wrong, or its extra is missing.
    """

    def __init__(
        self,
        options: Options,
        blocks: Blocks = "none",
        *,
        max_page_bytes: int = MAX_PAGE_BYTES,
        url_required: bool = True,
    ) -> None:
        options.check()
        self.options = options
        self.heuristic = heuristic(options.heuristic)
        self._blocks: Blocks = blocks
        self._max_page_bytes = max_page_bytes
        self._url_required = url_required

    def admit(self, page: Page) -> None:
        """Refuse a page that cannot become clean text.

        Raises:
            PageError: the page has no URL, an error status, or no HTML, or it is too large.
        """
        admit(page, self._max_page_bytes, url_required=self._url_required)

    def prepare(
        self, page: Page, origin: str, schemes: Sequence[KeyScheme], store: SeenStore
    ) -> Prepared | Duplicate:
        """Decide whether a page is a duplicate; if not, make its document.

        A duplicate is not tokenized, because half of the pages in the paper's stream were
        duplicates. But if a page is fetched again, its text may be needed for the decision.

        Args:
            page: an admitted page with a URL.
            origin: topic/partition/offset of the page's first copy.
            schemes: the current key scheme. The former key scheme follows it as long as documents
                with keys of that scheme have `seen` records.
            store: the `seen` records of the page's site.

        Raises:
            PageError: the page cannot become clean text.
            SeenError: this release cannot read a stored record.
        """
        tokens = _Tokens(page)
        keys = [scheme.key(page.final_url or "", tokens.title) for scheme in schemes]

        def look_up(key: UrlKey) -> bytes | None:
            return store.seen(bytes.fromhex(key.id))

        content = tokens.content if self.options.revisits == "replace" else None
        decision = decide(page, keys, origin, store.horizon, look_up, content)
        if isinstance(decision, Duplicate):
            return decision
        document = Document.of(page, decision.key, tokens.tokenized, origin)
        document = self._enriched(document, page, store.documents)
        return Prepared(document, decision.seen, decision.arrival)

    def document(self, page: Page, origin: str, scheme: KeyScheme) -> Document:
        """Make the document of a page, without a check for duplicates.

        Raises:
            PageError: the page cannot become clean text.
        """
        tokens = _Tokens(page)
        if page.final_url:
            key = scheme.key(page.final_url, tokens.title)
            document = Document.of(page, key, tokens.tokenized, origin)
        else:
            document = Document.without_url(page, tokens.tokenized, origin)
        return self._enriched(document, page, 0)

    def new_site(self) -> Site:
        """Return an empty site."""
        return Site(
            self.heuristic,
            self.options.eviction,
            keep_counts=self._blocks != "none",
            revise=self.options.revise,
        )

    def open_site(self, store: RowStore) -> Opened:
        """Rebuild a site from its rows and first pages.

        Raises:
            RowError: this release cannot read a stored row.
        """
        site = self.new_site()
        stale = site.rebuild(store.rows())
        sizes = [(document_id, len(packed)) for document_id, packed in store.first_pages()]
        return Opened(site, stale, site.first.recall(sizes, site.__contains__))

    def learn(self, document: Document, site: Site, store: RowStore) -> Learned | Superseded:
        """Learn a document: insert it into the tree of its site and judge it.

        Raises:
            RowError: this release cannot read the stored row.
        """
        stored = store.row(document.key_bytes)
        former = None if stored is None else Row.decode(stored)
        later = superseded_by(document, former)
        return site.learn(document, former) if later is None else Superseded(document, later)

    def revise(self, document_id: bytes, site: Site, store: RowStore) -> Revised:
        """Judge one of the first pages of a site again.

        Args:
            document_id: an id that `Site.due` has returned.
            site: site of the page.
            store: rows and first pages of the site.

        Raises:
            LookupError: the first page is not stored.
            RowError: this release cannot read the stored row or first page.
        """
        packed = store.first_page(document_id)
        if packed is None:
            raise LookupError(f"first page {document_id.hex()} is not stored")
        document, stored = unpack(packed), store.row(document_id)
        former = None if stored is None else Row.decode(stored)
        revision = site.first.revise(document, former, site.judge)
        if revision is None:
            return Revised(None, None)
        if revision.verdict is None:
            return Revised(revision.row, None)
        return Revised(revision.row, self.extraction(document, revision.verdict))

    def judge_again(
        self, document: Document, site: Site, store: RowStore
    ) -> tuple[Verdict, bytes] | Superseded:
        """Judge a learned document with everything that its site has learned until now.

        This is the second pass of the option `two_pass`.

        Returns:
            The verdict and the encoded row to store.

        Raises:
            LookupError: the document was not learned.
        """
        stored = store.row(document.key_bytes)
        if stored is None:
            raise LookupError(f"document {document.id} was not learned")
        former = Row.decode(stored)
        if former.origin != document.origin:
            return Superseded(document, former.origin)
        if not former.is_judged:
            return former.verdict, stored
        verdict = site.judge(document)
        row = replace(former, verdict=verdict, waits=False, revised=None)
        return verdict, row.encode()

    def extraction(self, document: Document, verdict: Verdict) -> Extraction:
        """Return the extraction of a judged document. For a replay it has the same bytes."""
        return clean_text(document, verdict, self._blocks, markdown=self.options.markdown)

    def _enriched(self, document: Document, page: Page, documents: int) -> Document:
        if self.options.metadata:
            document = replace(document, metadata=find_metadata(page))
        if self.options.single_page != "none" and page.content_from == "page":
            document = add_vouched_blocks(document, page, documents)
        return document


class _Tokens:
    """The blocks and metadata of a page; the page is tokenized when they are first needed."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @cached_property
    def tokenized(self) -> TokenizedPage:
        return tokenize(self._page.html, self._page.content_type)

    def content(self) -> int:
        """Return the digest that shows whether the content of a page has changed."""
        return content_digest(self.tokenized.blocks)

    def title(self) -> str | None:
        """Return the title in the record, or else the page's own; rules with `_cid_` need it."""
        return self._page.title or self.tokenized.title
