"""The pages of a benchmark: whole web sites, each in the order of publication."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from demo.sites import make_sample
from demo.sites.site import SampleSite
from urltree.page import Page
from urltree.reading import Reader
from urltree.reading.source import check_source

STREAMS = Path(__file__).parents[2] / "shared" / "data" / "streams"


@dataclass(frozen=True, slots=True)
class Pages:
    """Sites whose pages can be read several times.

    Attributes:
        name: name that the report shows.
        sites: functions, each of which reads the pages of one site.
    """

    name: str
    sites: Sequence[Callable[[], Iterator[Page]]]

    def __iter__(self) -> Iterator[Page]:
        """Read all pages, site by site."""
        for site in self.sites:
            yield from site()

    def sample(self, number: int) -> list[Page]:
        """Return about `number` pages, with the same number of pages of each site.

        A site with fewer pages gives all of them. The pages of a site are evenly spaced. Pages of
        different sites alternate, as in a stream.
        """
        each = max(1, number // len(self.sites))
        chosen = [_spread(site, each) for site in self.sites]
        most = max(map(len, chosen))
        return [pages[n] for n in range(most) for pages in chosen if n < len(pages)]


def load_pages(path: Path | None) -> Pages:
    """Return the sites of a folder or file.

    Without a path, they are the real sites in `STREAMS` or, if that folder does not exist,
    generated sites.
    """
    if path is None and not STREAMS.is_dir():
        print(f"{STREAMS} does not exist: measuring generated sites instead of real ones")
        return Pages("generated", [partial(_articles, site) for site in make_sample().sites])
    path = path or STREAMS
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    sites = [partial(_pages, str(file)) for file in files if not file.match("manifest.json")]
    return Pages(path.name, sites)


def mean_kilobytes(pages: Sequence[Page]) -> float:
    """Return the mean size of the pages' HTML in kilobytes of UTF-8."""
    return sum(len(html(page)) for page in pages) / len(pages) / 1_000


def html(page: Page) -> bytes:
    """Return the HTML of a page as bytes; text is encoded as UTF-8."""
    return page.html if isinstance(page.html, bytes) else page.html.encode(errors="replace")


def _spread(site: Callable[[], Iterator[Page]], wanted: int) -> list[Page]:
    count = sum(1 for _ in site())
    if count <= wanted:
        return list(site())
    positions = {n * count // wanted for n in range(wanted)}
    read = islice(site(), max(positions) + 1)
    return [page for position, page in enumerate(read) if position in positions]


def _pages(name: str) -> Iterator[Page]:
    return (check_source(source, "")[0] for source in Reader().read([name]))


def _articles(site: SampleSite) -> Iterator[Page]:
    for article in site.articles:
        answer = site.answer("https", site.address(article))
        yield Page(
            url=site.url(article),
            html=answer.body.decode(site.charset),
            published=article.published.isoformat(),
        )
