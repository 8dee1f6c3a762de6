"""Generators of live blogs, of copies at other addresses, and of a site with many sections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import escape
from random import Random
from urllib.parse import urlsplit

from bench.hard_streams.cut_page import CutPage, cut_page, paragraphs
from bench.hard_streams.insertions import StreamPages, random_of
from urltree_evaluation.corpus import CorpusPage

MERGED = "many-sections.example"  # a reserved name (RFC 2606)
_LIVE_EVERY = 4
# Each version of a live blog is added this number of pages after its first version.
_VERSIONS = (
    0,
    2,
    5,
)
_COPIED = 5  # one page in five is copied
_LATEST_COPY = 10  # largest number of pages between the original and its copy


def live_blogs(pages: StreamPages) -> list[CorpusPage]:
    """Make every fourth article a live blog, which grows and is fetched three times at its address.

    The newest entry comes first. The gold of each version contains the entries of that version.
    Other articles are learned and not scored.
    """
    generated, later = [], _Later()
    for number, page in enumerate(pages):
        article = cut_page(page)
        if article and number % _LIVE_EVERY == 0 and len(article.lines) > len(_VERSIONS):
            first, *others = _versions(article)
            generated.append(first)
            for version, delay in zip(others, _VERSIONS[1:], strict=True):
                later.put(number + delay, version)
        else:
            generated.append(replace(page, gold=None))
        generated += later.take(number, page)
    return generated


def copies(pages: StreamPages) -> list[CorpusPage]:
    """Copy one page in five to another address, at most ten pages later and with the same gold.

    Half of the copies are identical pages in the same folder as the original. The other half
    contain only the article in a plain template, and are in the folder /partners.
    """
    generated, later = [], _Later()
    for number, page in enumerate(pages):
        article = cut_page(page)
        generated.append(page if article else replace(page, gold=None))
        random = random_of(page, "copy")
        drawn = Random(f"copies {page.domain} {number // _COPIED}").randrange(_COPIED)
        if article and number % _COPIED == drawn:
            later.put(number + random.randint(1, _LATEST_COPY), _copy(article, random))
        generated += later.take(number, page)
    return generated


def sections(sites: Sequence[StreamPages]) -> list[CorpusPage]:
    """Merge several sites into one site, in which each is a section with its own template.

    The sections have the paths /section0/…, /section1/… The order of the sites is random. The times
    are invented and an hour apart, because with the real times the window would evict the older
    sites.
    """
    random = Random("sections")
    turns = [number for number, pages in enumerate(sites) for _ in pages]
    random.shuffle(turns)
    rest = [iter(pages) for pages in sites]
    start = datetime(2020, 1, 1, tzinfo=UTC)
    merged = []
    for hour, number in enumerate(turns):
        page = next(rest[number])
        split = urlsplit(page.url)
        query = f"?{split.query}" if split.query else ""
        merged.append(
            replace(
                page,
                url=f"https://{MERGED}/section{number}{split.path or '/'}{query}",
                domain=MERGED,
                published=(start + timedelta(hours=hour)).isoformat(),
                gold=page.gold if cut_page(page) else None,
            )
        )
    return merged


class _Later:
    """A store for pages that are added later in the stream."""

    def __init__(self) -> None:
        self._due: dict[int, list[CorpusPage]] = defaultdict(list)

    def put(self, number: int, page: CorpusPage) -> None:
        self._due[number].append(page)

    def take(self, number: int, now: CorpusPage) -> Iterator[CorpusPage]:
        """Yield the pages that are due after page `number`, with the publication time of `now`."""
        for page in self._due.pop(number, ()):
            yield replace(page, published=now.published)


def _versions(article: CutPage) -> Iterator[CorpusPage]:
    (lead, lines), *entries = paragraphs(article)
    before, after = article.gold[: article.lines[0][0]], article.gold[article.lines[-1][1] + 1 :]
    tail = article.between(f"after {len(entries)}", "inside")
    for number in range(1, len(_VERSIONS) + 1):
        shown = entries[: len(entries) * number // len(_VERSIONS)][::-1]
        markup = lead + "".join(f"<div>{entry}</div>" for entry, _ in shown) + tail
        gold = [*before, *lines, *(line for _, of_entry in shown for line in of_entry), *after]
        yield replace(
            article.page,
            id=f"{article.page.id}~{number}",
            html=article.put({"before": markup}, cut=("before", "inside")),
            gold="\n".join(gold),
        )


def _copy(article: CutPage, random: Random) -> CorpusPage:
    split = urlsplit(article.page.url)
    folder, _, name = split.path.rstrip("/").rpartition("/")
    path, html = f"{folder}/again-{name}", article.page.html
    if random.random() < 0.5:
        path = f"/partners{split.path}"
        html = (
            f"<!DOCTYPE html><html><head><title>{escape(article.title)}</title></head>"
            f"<body>{article.article()}</body></html>"
        )
    url = split._replace(path=path).geturl()
    return replace(article.page, id=f"{article.page.id}~copy", url=url, html=html)
