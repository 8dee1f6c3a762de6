"""All generators by name, and the streams that they make of real ones.

Each is a pure function from a site's pages, in order, to other pages. Ids of pages that a generator
adds are `ID~…` of the page that they are made of. A page without gold is learned from, not scored.
Names in `-neutral` say the same with class names that say nothing.
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
SECTIONS = "sections"  # made of several sites, see `sections`


def names() -> list[str]:
    """All names, in the order of the report."""
    return [*GENERATORS, SECTIONS]


def site(file: Path, pages: int) -> list[CorpusPage]:
    """The first pages of a stream.

    Raises:
        CorpusError: it cannot be read.
    """
    return list(islice(read(file), pages))


def sections(files: Sequence[Path], pages: int) -> list[CorpusPage]:
    """One site made of several, each a section of it: as many pages as two of them."""
    each = max(1, 2 * pages // max(1, len(files)))
    return addresses.sections([site(file, each) for file in files])


def files_of(folder: Path, sites: Collection[str] = ()) -> list[Path]:
    """The streams of a folder, all of them if none is named."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return [file for file in files if not sites or file.name.removesuffix(SUFFIX) in sites]


def streams(
    folder: Path, sites: Collection[str], pages: int, chosen: Collection[str] = ()
) -> Iterator[tuple[str, list[CorpusPage]]]:
    """Generated streams, one at a time: generator and pages.

    Args:
        folder: of streams.
        sites: names of domains, as the files are called; none is all.
        pages: so many of each, from its first on.
        chosen: generators by name; none is all.
    """
    files = files_of(folder, sites)
    for file in files:
        original = site(file, pages)
        for name, generator in GENERATORS.items():
            if not chosen or name in chosen:
                yield name, generator(original)
    if not chosen or SECTIONS in chosen:
        yield SECTIONS, sections(files, pages)
