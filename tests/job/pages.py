"""Generate small pages of invented sites from a seed; real pages are about ten times as large.

Each site has a template with sections, a sidebar that changes every 40 pages, and a footer. Some
pages are duplicates, which different steps of deduplication detect. Some pages have no date or an
old one, and some are invalid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from urltree.page import Page

START = datetime(2026, 3, 1, tzinfo=UTC)
OLD = timedelta(days=100)  # longer than every window, and than the 60 days of `seen`
SECTIONS = ("news", "sport", "culture")
SYLLABLES = [a + b for a in "bdfgjklmnprstvxz" for b in "aeiou"]
NOT_FOUND = 404


@dataclass
class Site:
    """A site and the pages that it has published so far."""

    domain: str
    pages: list[Page]

    def article(self, number: int, random: Random) -> Page:
        """Return a new page of the site, with text of its own."""
        section = random.choice(SECTIONS)
        host = random.choice([f"www.{self.domain}", self.domain, f"blog.{self.domain}"])
        title = sentence(random, 4)
        when = START + timedelta(hours=number // 4) - (OLD if random.random() < 0.03 else OLD * 0)
        page = Page(
            url=f"https://{host}/{section}/{number % 5}/{number}.html",
            html=self.html(section, number, title, random),
            title=title,
            published=None if random.random() < 0.1 else when.isoformat(),
            fetched_at=when.isoformat() if random.random() < 0.3 else None,
        )
        self.pages.append(page)
        return page

    def html(self, section: str, number: int, title: str, random: Random) -> str:
        """Return the HTML of an article in the site's template."""
        own = Random(f"{self.domain} {section} {number // 40}")
        menu = "".join(f"<li><a href=/{name}>{name} of {self.domain}</a></li>" for name in SECTIONS)
        teasers = "".join(f"<p>{sentence(own, 6)}</p>" for _ in range(3))
        # only repetition shows that this text is boilerplate, so a site's first pages keep it
        body = f"<p>Whoever reads {self.domain} may write to the editors at any time.</p>"
        body += "".join(f"<p>{sentence(random, 14)}</p>" for _ in range(random.randint(2, 5)))
        return (
            f"<!doctype html><html lang=en><head><title>{title} | {self.domain}</title>"
            f"<meta name=author content='{section} desk'>"
            f"<meta name=date content={START + timedelta(hours=number // 4):%Y-%m-%d}></head>"
            f"<body><ul>{menu}</ul><h1>{title}</h1><div class=article>{body}</div>"
            f"<aside><h2>More {section}</h2>{teasers}</aside>"
            f"<footer>© {self.domain}<div>We use cookies.</div></footer></body></html>"
        )

    def duplicate(self, number: int, random: Random) -> Page:
        """Return a copy of an earlier page that one of the steps of deduplication detects."""
        page = random.choice(self.pages[-200:])
        url = page.url or ""
        changed: tuple[dict[str, Any], ...] = (
            {},
            {"url": f"{url}?utm_source=feed{number}"},
            {"url": url.replace("https://", "http://").replace(".html", ".html#top")},
            {"url": f"https://short.example/{number}", "response_url": url},
        )
        return replace(page, **random.choice(changed))


def sentence(random: Random, words: int) -> str:
    """Return a sentence of `words` random words."""
    return " ".join("".join(random.choices(SYLLABLES, k=3)) for _ in range(words)).capitalize()


def pages(number: int, *, sites: int = 7, seed: int = 1, name: str = "site") -> list[Page]:
    """Return `number` pages; the meta string `n` of a page is its index, from 0.

    Args:
        number: number of pages.
        sites: number of sites, whose domains are `name`0.example, `name`1.example, and so on.
        seed: seed of all that is random.
        name: start of the domains.
    """
    random = Random(seed)
    known = [Site(f"{name}{index}.example", []) for index in range(sites)]
    made = [_page(n, random.choice(known), random) for n in range(number)]
    return [replace(page, meta={"n": str(n)}) for n, page in enumerate(made)]


def with_revisits(made: list[Page], *, seed: int = 1) -> list[Page]:
    """Return the pages, and after some of them a new version of an earlier page.

    The meta string `n` of a page is its index among all returned pages.
    """
    random, all_of_them = Random(seed), list[Page]()
    for page in made:
        all_of_them.append(page)
        if random.random() < 0.3:
            former = random.choice(all_of_them[-60:])
            update = f"<p>Update: {sentence(random, 12)}</p>"
            all_of_them.append(replace(former, html=f"{former.html}{update}"))
    return [replace(page, meta={"n": str(n)}) for n, page in enumerate(all_of_them)]


def _page(number: int, site: Site, random: Random) -> Page:
    kind = random.random()
    if site.pages and kind < 0.12:
        return site.duplicate(number, random)
    if kind > 0.96:
        return _at_fault(site.article(number, random), random, site)
    return site.article(number, random)


def _at_fault(page: Page, random: Random, site: Site) -> Page:
    """Return the page with a fault.

    The page is removed from its site, so that no later page is a duplicate of it.
    """
    site.pages.remove(page)
    changed: tuple[dict[str, Any], ...] = (
        {"status": NOT_FOUND},
        {"html": " \n "},
        {"content_type": "application/pdf"},
        {"url": "https://"},
    )
    return replace(page, **random.choice(changed))
