"""The library's shortest way: pages in, an iterator of Extractions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike

from urltree.address.url_key import Query
from urltree.enrich.fallback import SinglePage
from urltree.extractor import EVICTION, MEMORY, Extractor
from urltree.heuristics.registry import DEFAULT
from urltree.output.extraction import Extraction
from urltree.reading.source import Source
from urltree.site.revisits import Revisits
from urltree.tree.window import Eviction


def extract(  # noqa: PLR0913 - the options of `Extractor`
    pages: Iterable[Source],
    *,
    heuristic: str = DEFAULT,
    rules: str | PathLike[str] | None = None,
    query: Query = "known-noise",
    eviction: Eviction | None = EVICTION,
    two_pass: bool = False,
    revise: bool = False,
    revisits: Revisits = "drop",
    state: str | PathLike[str] | None = None,
    boilerplate: bool = False,
    markdown: bool = False,
    metadata: bool = False,
    single_page: SinglePage = "none",
    memory: int = MEMORY,
) -> Iterator[Extraction]:
    """One Extraction for each page, in order, lazily; arguments and errors as `Extractor`.

    With `revise` each revision comes behind the page that caused it.
    """
    extractor = Extractor(
        heuristic=heuristic,
        rules=rules,
        query=query,
        eviction=eviction,
        two_pass=two_pass,
        revise=revise,
        revisits=revisits,
        state=state,
        boilerplate=boilerplate,
        markdown=markdown,
        metadata=metadata,
        single_page=single_page,
        memory=memory,
    )
    return _closing(extractor, pages)


def _closing(extractor: Extractor, pages: Iterable[Source]) -> Iterator[Extraction]:
    with extractor:
        yield from extractor.extract_all(pages)
