"""All generators by name, and the streams that generators make from real streams.

A generator is a pure function from the pages of a site, in order, to other pages. If it adds a page
that was made from the page ID, the new page has the id `ID~…`. A page without gold is learned and
not scored. A generator with the suffix `-neutral` does the same as the one without the suffix, but
its class names have no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from bench.hard_streams import addresses, insertions, neighbours, templates
from bench.hard_streams.naming import neutral, telling
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.workspace import SUFFIX

Generator = Callable[[Sequence[CorpusPage]], list[CorpusPage]]

_NAMED: dict[str, Callable[..., list[CorpusPage]]] = {
    "teasers": partial(neighbours.teasers, is_linked=False),
    "teasers-linked": partial(neighbours.teasers, is_linked=True),
    "fronts": partial(neighbours.fronts, is_linked=False),
    "fronts-linked": partial(neighbours.fronts, is_linked=True),
    "interjections": insertions.interjections,
    "author-boxes": insertions.author_boxes,
    "paywall": partial(insertions.paywall, ends=False),
    "paywall-ends": partial(insertions.paywall, ends=True),
    "consent": insertions.consent,
    "captions": insertions.captions,
    "scroll-to-older": partial(neighbours.infinite_scroll, newer=False),
    "scroll-to-newer": partial(neighbours.infinite_scroll, newer=True),
}
GENERATORS: dict[str, Generator] = {
    **{
        name + suffix: partial(generator, naming=naming)
        for name, generator in _NAMED.items()
        for suffix, naming in (("", telling), ("-neutral", neutral))
    },
    "live-blogs": addresses.live_blogs,
    "copies": addresses.copies,
    "hashed-classes": templates.hashed_classes,
    "redesign-first-10": partial(templates.redesign, soon=True),
    "redesign-later": partial(templates.redesign, soon=False),
}
SECTIONS = "sections"  # made from several sites, see `merge_sites`


def generator_names() -> list[str]:
    """Return the names of all generators, in the order of the report."""
    return [*GENERATORS, SECTIONS]


def site_pages(file: Path, pages: int) -> list[CorpusPage]:
    """Read the first pages of a stream.

    Raises:
        CorpusError: the stream cannot be read.
    """
    return list(islice(read(file), pages))


def merge_sites(files: Sequence[Path], pages: int) -> list[CorpusPage]:
    """Merge several sites into one with a section for each site and twice `pages` pages in all."""
    each = max(1, 2 * pages // max(1, len(files)))
    return addresses.sections([site_pages(file, each) for file in files])


def files_of(folder: Path, sites: Collection[str] = ()) -> list[Path]:
    """Return the streams of these sites in a folder, or all streams if no site is named."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return [file for file in files if not sites or file.name.removesuffix(SUFFIX) in sites]


def streams(
    folder: Path, sites: Collection[str], pages: int, chosen: Collection[str] = ()
) -> Iterator[tuple[str, list[CorpusPage]]]:
    """Yield the generated streams one at a time: the name of the generator, and the pages.

    Args:
        folder: folder of real streams.
        sites: names of sites; empty selects all sites.
        pages: number of pages that are read from the start of each stream.
        chosen: names of generators; empty selects all generators.
    """
    files = files_of(folder, sites)
    for file in files:
        original = site_pages(file, pages)
        for name, generator in GENERATORS.items():
            if not chosen or name in chosen:
                yield name, generator(original)
    if not chosen or SECTIONS in chosen:
        yield SECTIONS, merge_sites(files, pages)
