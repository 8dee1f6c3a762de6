"""The library: it takes pages, and returns one Extraction for each page in the same order.

    page ──▶ check ──▶ admit ──▶ prepare ──▶ learn ──▶ extraction
               │         │         └──▶ duplicate
               └─────────┴──▶ error

As in the job, the pipeline (`pipeline.py`) makes all decisions. The library stores the records of
each site in dictionaries and in a state directory (`site/cache.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature, signature
from os import PathLike
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, cast

from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.protocol import Verdict
from urltree.output.extraction import Blocks, Extraction, duplicate, failure, superseded
from urltree.page import Page, PageError
from urltree.pipeline import Options, Pipeline, Superseded
from urltree.reading.source import Source, check_source, url_of
from urltree.site.cache import SiteCache, StoredSite
from urltree.site.deduplication import Arrival, Duplicate
from urltree.site.site import Site
from urltree.site.spool import Spool
from urltree.site.state_directory import StateDirectory

Judged = tuple[Document, Verdict]

MEMORY = 512 << 20  # default size in bytes of the sites in memory

P = ParamSpec("P")


@dataclass(kw_only=True, eq=False)
class Extractor(Options):
    """An extractor that learns sites page by page and returns the text of each page.

    The extractor also takes the options of `urltree.pipeline.Options`.

    Args:
        two_pass: learn from all pages, then judge each page; `eviction` and `revise` are ignored.
        boilerplate: return all blocks of each page with their verdicts.
        state: state directory, or an open StateDirectory. The extractor continues from this state,
            and saves its own state there when it is closed.
        memory: size in bytes of the sites in memory; all other sites are moved to disk.

    Raises:
        ValueError, TypeError: an option is wrong.
        StateError: the state directory cannot be used.
    """

    two_pass: bool = False
    boilerplate: bool = False
    state: str | PathLike[str] | StateDirectory | None = None
    memory: int = MEMORY

    def __post_init__(self) -> None:
        """Check the options and open the state directory."""
        self.check()
        options = Options(**{each.name: getattr(self, each.name) for each in fields(Options)})
        if self.two_pass:
            options = replace(options, eviction=None, revise=False)
        self.scheme = KeyScheme.load(_read_rules(self.rules), self.query)
        blocks: Blocks = "all" if self.boilerplate else "none"
        self._pipeline = Pipeline(options, blocks, url_required=False)
        self._revisions: list[Extraction] = []
        state = self.state
        self._state = state if isinstance(state, StateDirectory) else StateDirectory(state)
        self._sites = SiteCache(self._state, self.memory)
        self._is_open = True

    def extract(self, page: Source) -> Extraction:
        """Learn a page and judge it.

        Args:
            page: a Page, a mapping with the fields of raw-html, a pair (url, html), or a PageError
                if the page could not be read.

        Raises:
            ValueError: `two_pass` is set, which needs all pages; use `extract_all` instead.
        """
        if self.two_pass:
            raise ValueError(
                "extract: two_pass needs all pages at once; call extract_all or urltree.extract"
            )
        return self.extraction(self.learn(page))

    def revisions(self) -> list[Extraction]:
        """Return the new extractions of first pages since the last call; none without `revise`."""
        revisions, self._revisions = self._revisions, []
        return revisions

    def extract_all(self, pages: Iterable[Source]) -> Iterator[Extraction]:
        """Yield one Extraction for each page, in the order of the pages.

        A page is read when the next Extraction is requested; with `two_pass`, all pages are read
        first. With `revise`, revisions follow the page that caused them.
        """
        if not self.two_pass:
            for page in pages:
                yield self.extract(page)
                yield from self.revisions()
            return
        with Spool() as spool:
            for page in pages:
                spool.put(self.learn(page))
            for judged in spool:
                yield self.extraction(self.judge_again(judged))

    def learn(self, page: Source, origin: str | None = None) -> Extraction | Judged:
        """Learn a page; return its document and verdict, or an Extraction without text.

        Args:
            page: a page in any form that `extract` takes.
            origin: origin of the page; if it is None, the number of the page is its origin.
        """
        origin = origin or f"library/0/{self._state.pages}"
        self._state.pages += 1
        checked: Page | None = None
        try:
            checked, origin = check_source(page, origin)
            return self._learn(checked, origin)
        except PageError as error:
            return replace(failure(checked, origin, error), url=url_of(page))

    def judge_again(self, judged: Extraction | Judged) -> Extraction | Judged:
        """Judge a learned document again, with everything that its site has learned until now.

        Args:
            judged: a result of `learn`. An Extraction without text is returned unchanged.
        """
        if isinstance(judged, Extraction):
            return judged
        document = judged[0]
        if not document.has_url:
            return judged
        stored = self._sites.use(document.domain)
        try:
            again = self._pipeline.judge_again(document, self._site(stored), stored)
            if isinstance(again, Superseded):
                return superseded(*again)
            verdict, row = again
            stored.put_row(document.key_bytes, row)
            return document, verdict
        finally:
            self._sites.settle()

    def extraction(self, judged: Extraction | Judged) -> Extraction:
        """Return the Extraction for a result of `learn` or `judge_again`."""
        return judged if isinstance(judged, Extraction) else self._pipeline.extraction(*judged)

    def close(self) -> None:
        """Save the state; the extractor cannot be used afterwards."""
        if self._is_open:
            self._is_open = False
            try:
                self._sites.save()
            finally:
                self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _learn(self, page: Page, origin: str) -> Extraction | Judged:
        self._pipeline.admit(page)
        if not page.final_url:
            document = self._pipeline.document(page, origin, self.scheme)
            return document, self._pipeline.new_site().learn(document, None).verdict
        stored = self._sites.use(self.scheme.domain(page.final_url))
        try:
            prepared = self._pipeline.prepare(page, origin, [self.scheme], stored)
            if isinstance(prepared, Duplicate):
                return duplicate(page, origin, *prepared)
            document, seen, arrival = prepared
            try:
                site = self._site(stored)
                learned = self._pipeline.learn(document, site, stored)
                if isinstance(learned, Superseded):
                    return superseded(*learned)
                stored.put_learned(document.key_bytes, learned)
                stored.put_seen(document.key_bytes, seen, is_new=arrival is Arrival.NEW)
            except BaseException:  # also KeyboardInterrupt; the next page rebuilds the tree
                stored.site = None
                raise
            self._revise(stored)
            return document, learned.verdict
        finally:
            self._sites.settle()

    def _revise(self, stored: StoredSite) -> None:
        site = self._site(stored)
        for document_id in site.due():
            revised = self._pipeline.revise(document_id, site, stored)
            if revised.row is not None:
                stored.put_row(document_id, revised.row)
            stored.delete_first_pages([document_id])
            if revised.extraction is not None:
                self._revisions.append(revised.extraction)

    def _site(self, stored: StoredSite) -> Site:
        if stored.site is None:
            opened = self._pipeline.open_site(stored)
            stored.delete_rows(opened.stale)
            stored.delete_first_pages(opened.dropped)
            stored.site = opened.site
        return stored.site


def _read_rules(path: str | PathLike[str] | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"rules: cannot read {path}: {error}") from error


def _extract_all(extractor: Extractor, pages: Iterable[Source]) -> Iterator[Extraction]:
    with extractor:
        yield from extractor.extract_all(pages)


def _with_options_of(
    new: Callable[P, Extractor],
) -> Callable[Concatenate[Iterable[Source], P], Iterator[Extraction]]:
    """Return the function `extract`, whose keyword arguments are those of `Extractor`."""

    def extract(
        pages: Iterable[Source], *args: P.args, **options: P.kwargs
    ) -> Iterator[Extraction]:
        """Return an iterator with one Extraction for each page, in the order of the pages.

        The keyword arguments and errors are those of `Extractor`. Pages are read and judged as
        `Extractor.extract_all` describes.
        """
        return _extract_all(new(*args, **options), pages)

    first = Parameter("pages", Parameter.POSITIONAL_OR_KEYWORD, annotation="Iterable[Source]")
    parameters = [first, *signature(new).parameters.values()]
    extract.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return cast("Callable[Concatenate[Iterable[Source], P], Iterator[Extraction]]", extract)


extract = _with_options_of(Extractor)
