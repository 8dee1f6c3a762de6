"""The library: pages in, one Extraction for each out, in their order.

    page ──▶ check ──▶ admit ──▶ domain ──▶ normalise ──▶ learn ──▶ clean text
               │         │         │            └──▶ duplicate
               └─────────┴─────────┴──▶ error

The decisions are those of the job, by the same functions in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Self, get_args

from urltree.address.url_key import KeyScheme, Query
from urltree.document import Document
from urltree.enrich.fallback import SinglePage, add_vouched_blocks, require_extractor
from urltree.enrich.metadata import find_metadata, require_metadata_libraries
from urltree.heuristics.registry import DEFAULT
from urltree.heuristics.registry import heuristic as heuristic_named
from urltree.output.extraction import Blocks, Extraction, clean_text, duplicate, failure, superseded
from urltree.page import Page, PageError
from urltree.reading.admission import admit
from urltree.reading.source import Source, check_source, url_of
from urltree.site.cache import KnownDomains
from urltree.site.deduplication import Duplicate
from urltree.site.lone_page import is_lone, lone_document
from urltree.site.revisits import Revisits
from urltree.site.row import Verdict
from urltree.site.site import LearnedDomain
from urltree.site.spool import Spool
from urltree.site.state_directory import State
from urltree.tree.window import Eviction

Learned = tuple[Document, Verdict]

MAX_BYTES = 10 << 20  # of a page's HTML, as in the job
MEMORY = 512 << 20
EVICTION = Eviction()


class Extractor:
    """Learns sites page by page, and says of each page what is its own text.

    Args:
        heuristic: decides what is boilerplate, by name.
        rules: a YAML file of query rules, tried before the shipped ones.
        query: what becomes of a query where no rule applies: `known-noise` or `drop`.
        eviction: how many documents of a domain count; None keeps all.
        two_pass: learn from all pages, then judge; nothing is evicted meanwhile.
        revise: judge a domain's first pages again once 20 are known; see `revisions`.
        revisits: whether a page that has changed supersedes what was seen: `drop` or `replace`.
        state: a directory to continue from and to save to when closed, or one that is open.
        boilerplate: give all blocks with their verdicts.
        markdown: give Markdown beside the text.
        metadata: look for date, author, description and language; needs the extra `metadata`.
        single_page: the extractor that is asked on a domain's first pages: `none` or
            `trafilatura`, which needs the extra `single-page`.
        memory: bytes of learned domains in memory; whole domains beyond it go to disk.

    Raises:
        ValueError, TypeError: an option is wrong.
        StateError: the state directory cannot be used.
    """

    scheme: KeyScheme  # makes keys and domains of URLs

    def __init__(  # noqa: PLR0913 - the options of issue 3, section 2
        self,
        *,
        heuristic: str = DEFAULT,
        rules: str | PathLike[str] | None = None,
        query: Query = "known-noise",
        eviction: Eviction | None = EVICTION,
        two_pass: bool = False,
        revise: bool = False,
        revisits: Revisits = "drop",
        state: str | PathLike[str] | State | None = None,
        boilerplate: bool = False,
        markdown: bool = False,
        metadata: bool = False,
        single_page: SinglePage = "none",
        memory: int = MEMORY,
    ) -> None:
        if eviction is not None and not isinstance(eviction, Eviction):
            raise TypeError(f"eviction should be an Eviction or None, is {eviction!r}")
        if not isinstance(heuristic, str):
            raise TypeError(f"heuristic should be a name, is {heuristic!r}")
        if revisits not in get_args(Revisits):
            raise ValueError(f"revisits should be drop or replace, is {revisits!r}")
        self.scheme = KeyScheme.load(None if rules is None else _read_rules(rules), query)
        self._new_domain = partial(
            LearnedDomain,
            heuristic_named(heuristic),
            None if two_pass else eviction,
            keep_counts=boilerplate,
            revise=revise and not two_pass,
        )
        self._revised: list[Learned] = []
        self._two_pass = two_pass
        self._revisits: Revisits = revisits
        if metadata:
            require_metadata_libraries()
        self._metadata = metadata
        require_extractor(single_page)
        self._single_page = single_page
        blocks: Blocks = "all" if boilerplate else "none"
        self._clean_text = partial(clean_text, blocks=blocks, markdown=markdown)
        self._state = state if isinstance(state, State) else State(state)
        self._domains = KnownDomains(self._state, self._new_domain, memory)
        self._is_open = True

    def extract(self, page: Source) -> Extraction:
        """Learn a page and judge it.

        Args:
            page: a Page, a mapping with the fields of raw-html, or (url, html). A PageError stands
                for a page that its reader could not read.

        Raises:
            ValueError: with two_pass, which needs all pages; see `extract_all`.
        """
        if self._two_pass:
            raise ValueError("two_pass needs all pages: extract_all, or urltree.extract")
        return self.speak(self.learn(page))

    def revisions(self) -> list[Extraction]:
        """With `revise`, what is said anew of first pages since this was last asked."""
        revised, self._revised = self._revised, []
        return [self._clean_text(*learned) for learned in revised]

    def extract_all(self, pages: Iterable[Source]) -> Iterator[Extraction]:
        """One Extraction for each page, in order, lazily; with two_pass, once all are read.

        With `revise` each revision comes behind the page that caused it.
        """
        if not self._two_pass:
            for page in pages:
                yield self.extract(page)
                yield from self.revisions()
            return
        with Spool() as spool:
            for page in pages:
                spool.put(self.learn(page))
            for learned in spool:
                yield self.speak(self.judge_again(learned))

    def learn(self, page: Source, origin: str | None = None) -> Extraction | Learned:
        """Learn a page: a document with its verdict, or what became of it instead.

        Args:
            page: as above.
            origin: instead of the next number, where pages are counted elsewhere.
        """
        origin = origin or f"library/0/{self._state.pages}"
        self._state.pages += 1
        checked: Page | None = None
        try:
            checked, origin = check_source(page, origin)
            admit(checked, MAX_BYTES, url_required=False)
            return self._learn(checked, origin)
        except PageError as error:
            return replace(failure(checked, origin, error), url=url_of(page))

    def judge_again(self, learned: Extraction | Learned) -> Extraction | Learned:
        """Judge what was learned by all that is known now."""
        if isinstance(learned, Extraction):
            return learned
        document = learned[0]
        if is_lone(document):
            return learned
        domain = self._domains.use(document.domain)
        try:
            if (later := domain.replaced_by(document)) is not None:
                return superseded(document, later)
            return document, domain.judge_again(document)
        finally:
            self._domains.settle()

    def speak(self, learned: Extraction | Learned) -> Extraction:
        """The Extraction of what was learned."""
        return learned if isinstance(learned, Extraction) else self._clean_text(*learned)

    def close(self) -> None:
        """Save the state; nothing can be extracted afterwards."""
        if self._is_open:
            self._is_open = False
            try:
                self._domains.save()
            finally:
                self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _learn(self, page: Page, origin: str) -> Extraction | Learned:
        if not page.final_url:
            return self._learn_alone(page, origin)
        domain = self._domains.use(self.scheme.domain(page.final_url))
        try:
            outcome = domain.normalise(page, origin, [self.scheme], self._revisits)
            if isinstance(outcome, Duplicate):
                return duplicate(page, origin, outcome.key, outcome.first_origin, outcome.step)
            if (later := domain.superseded_by(outcome.document)) is not None:
                return superseded(outcome.document, later)
            document = self._described(outcome.document, page, domain.known)
            outcome = replace(outcome, document=document)
            learned = outcome.document, domain.learn(outcome)
            self._revised += domain.revise()
            return learned
        finally:
            self._domains.settle()

    def _learn_alone(self, page: Page, origin: str) -> Learned:
        document = self._described(lone_document(page, origin), page, 0)
        return document, self._new_domain().learn(document, None).verdict

    def _described(self, document: Document, page: Page, known: int) -> Document:
        if self._metadata:
            document = replace(document, metadata=find_metadata(page))
        if self._single_page != "none":
            document = add_vouched_blocks(document, page, known)
        return document


def _read_rules(path: str | PathLike[str]) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"rules: cannot read {path}: {error}") from error
