"""Walls of all kinds are dead letters, on a real Kafka; what only looks like a wall is published.

Each line of `WALLS` and `ARTICLES` prepares the pages of its own hosts. All of them are fetched by
one worker whose clock is set ahead until no page is held.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from agents.fetch import Fetch
from agents.settings.job import Settings
from models.crawl import fetch as fetches
from models.dead_letter import DeadLetter
from tests.agents.feed_server import Clock
from tests.agents.fetched import pages_of, quick, reaching, wanted
from tests.agents.pages_server import Answer, Web, html, redirect, serving
from tests.agents.records import Publish, ReadAll, Sent
from tests.agents.workers import idle, run, started, until
from tests.urltree.crawl.decisions.test_walls import WALLS as VENDORS
from tests.urltree.crawl.web.certificates import Certificates
from urltree.crawl.decisions.timing import MINUTE

pytestmark = pytest.mark.kafka

COUNT = 8  # articles of each line
TOPICS = ("bridge", "harbour", "school", "theatre", "market", "railway", "forest", "museum")
SORRY = "<h1>Sorry</h1><p>You can read this part of our pages with an account only.</p>"
MISSING = "<h1>Page not found</h1><p>We are sorry, but this page does not exist any more.</p>"


def title(number: int) -> str:
    """Return the title of an article."""
    return f"The {TOPICS[number]} opens again after repairs"


def article(number: int, host: str = "") -> str:
    """Return the HTML of an article of about 250 words with its title."""
    name = TOPICS[number]
    text = " ".join(
        f"In sentence {n} of {host} the council speaks about the {name} once more."
        for n in range(20)
    )
    return f"<title>{title(number)}</title><h1>{title(number)}</h1><p>{text}</p>"


def item(host: str, number: int, scheme: str = "http") -> Sent:
    """Return the record of an article of a host."""
    return wanted(f"{scheme}://{host}/2026/{TOPICS[number]}-opens", title=title(number))


def sent_to(host: str, path: str, to: Answer, *, at: str | None = None) -> Callable[[Web], None]:
    """Return a line: the articles of a host redirect to a path, of another host if one is given."""

    def prepare(pages: Web) -> None:
        for name in TOPICS:
            pages.put(
                f"{host}/2026/{name}-opens", redirect(f"http://{at or host}{path}?to={name}", 302)
            )
            pages.put(f"{at or host}{path}?to={name}", to)

    return prepare


def shown(host: str, answer: Callable[[int], Answer]) -> Callable[[Web], None]:
    """Return a line: the articles of a host have these responses."""

    def prepare(pages: Web) -> None:
        for number, name in enumerate(TOPICS):
            pages.put(f"{host}/2026/{name}-opens", answer(number))

    return prepare


def stub(number: int) -> Answer:
    """Return an article without its paid part."""
    return html(
        '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false,'
        '"hasPart": {"isAccessibleForFree": false, "cssSelector": ".paid"}}</script>'
        f"<h1>{title(number)}</h1><p>The {TOPICS[number]} has been closed since last summer.</p>"
    )


def too_many(_: int) -> Answer:
    """Return a refusal with status 200."""
    return html("<title>Too Many Requests</title><p>Please slow down.</p>")


def repeating(number: int) -> Answer:
    """Return "not found" with the address in the text."""
    return html(MISSING + f"<p>http://repeating.example/2026/{TOPICS[number]}-opens</p>")


def vendor(wall: tuple[str, int, dict[str, str], bytes], _: int) -> Answer:
    """Return the wall of a vendor."""
    _name, status, headers, body = wall

    return html(body.decode(), status, **headers)


def hosts_of_vendors() -> dict[str, Callable[[Web], None]]:
    """Return a line for each entry of walls.yaml."""
    return {
        f"vendor{number}.example": shown(f"vendor{number}.example", partial(vendor, wall))
        for number, wall in enumerate(VENDORS)
    }


WALLS = {
    "one-path.example": sent_to("one-path.example", "/sorry", html(SORRY)),
    "front.example": sent_to("front.example", "/", html(SORRY)),
    "login.example": sent_to("login.example", "/account/login", html(SORRY)),
    "sso.example": sent_to("sso.example", "/signin", html(SORRY), at="id.provider.example"),
    "asks.example": sent_to("asks.example", "/consent", html(SORRY)),
    "paper.example": sent_to("paper.example", "/subscribe", html(SORRY)),
    "meta.example": shown(
        "meta.example", lambda _: html('<meta http-equiv="refresh" content="0; url=/login?a=1">')
    ),
    "refresh.example": shown("refresh.example", lambda _: html("<p>Wait", Refresh="2; url=/gate")),
    "same.example": shown("same.example", lambda _: html(MISSING)),
    "repeating.example": shown("repeating.example", repeating),
    "stub.example": shown("stub.example", stub),
    "busy.example": shown("busy.example", too_many),
    **hosts_of_vendors(),
}


LED_TO = {
    "one-path.example": ("one-path", "one-path.example/sorry"),
    "front.example": ("front-page", "front.example/"),
    "login.example": ("login", "login.example/account/login"),
    "sso.example": ("login", "id.provider.example/signin"),
    "asks.example": ("consent", "asks.example/consent"),
    "paper.example": ("subscribe", "paper.example/subscribe"),
    "meta.example": ("login", "meta.example/login"),
    "refresh.example": ("one-path", "refresh.example/gate"),
    "same.example": ("same-text", "same.example/2026/"),
    "repeating.example": ("same-text", "repeating.example/2026/"),
}


def with_cookie(pages: Web) -> None:
    """Prepare articles that are shown only with the cookie that the consent page sets."""
    for number, name in enumerate(TOPICS):
        path = f"/2026/{name}-opens"

        async def shows(
            request: web.Request, number: int = number, path: str = path
        ) -> web.StreamResponse:
            if "agreed=yes" in request.headers.get("Cookie", ""):
                return await html(article(number, "cookie"))(request)
            return await redirect(f"/consent?back={path}", 302)(request)

        pages.put(f"cookie.example{path}", shows)
        agree = html("", 302, Location=path, Set_Cookie="agreed=yes; Path=/")
        pages.put(f"cookie.example/consent?back={path}", agree)


def slugs(pages: Web) -> None:
    """Prepare articles whose slugs have changed."""
    for number, name in enumerate(TOPICS):
        pages.put(f"slug.example/2026/{name}-opens", redirect(f"/2026/{name}-has-opened"))
        pages.put(f"slug.example/2026/{name}-has-opened", html(article(number, "slug")))


def moved(pages: Web) -> None:
    """Prepare a site whose articles lie on another domain, with other paths."""
    for number, name in enumerate(TOPICS):
        to = f"there.example/archive/{number + 1}"
        pages.put(f"moved.example/2026/{name}-opens", redirect(f"http://{to}"))
        pages.put(to, html(article(number, "moved")))


def secured(pages: Web) -> None:
    """Prepare a host that redirects from http to https."""
    for number, name in enumerate(TOPICS):
        path = f"/2026/{name}-opens"

        async def shows(
            request: web.Request, number: int = number, path: str = path
        ) -> web.StreamResponse:
            if request.secure:
                return await html(article(number, "secure"))(request)
            return await redirect(f"https://secure.example{path}")(request)

        pages.put(f"secure.example{path}", shows)


def live(pages: Web) -> None:
    """Prepare one live page that all items name, each with another parameter."""
    for number in range(COUNT):
        pages.put(f"live.example/today?post={number}", html(article(0, "live")))


ARTICLES: dict[str, Callable[[Web], None]] = {
    "cookie.example": with_cookie,
    "slug.example": slugs,
    "moved.example": moved,
    "secure.example": secured,
    "plain.example": shown("plain.example", lambda n: html(article(n, "plain"))),
    "reload.example": shown(
        "reload.example",
        lambda n: html('<meta http-equiv="refresh" content="300">' + article(n, "reload")),
    ),
    "live.example": live,
}


def items(host: str) -> list[Sent]:
    """Return the records of all articles of a host."""
    if host == "live.example":
        return [wanted(f"http://{host}/today?post={n}", title=title(0)) for n in range(COUNT)]
    return [item(host, number) for number in range(COUNT)]


async def wait_out(stage: Fetch, pages: Web, clock: Clock) -> None:
    """Set the clock ahead, further each time, until an hour has passed for all held pages."""
    queues = stage.fetching._waiting.queues
    await until(lambda: len(pages.asked) >= COUNT * len((*WALLS, *ARTICLES)))
    for minutes in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        before = -1
        while len(pages.asked) > before or stage.fetching._requests or len(queues):
            before = len(pages.asked)
            await asyncio.sleep(1.5)  # a busy machine may stand still for a second
        clock.ahead = minutes * MINUTE
    await idle([stage])


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings that allow workers to connect to 127.0.0.1 and make their pauses short."""
    return quick(settings, tmp_path)


def test_no_wall_is_published_and_no_article_is_lost(
    job: Settings, publish: Publish, read_all: ReadAll, tmp_path: Path
) -> None:
    """Each of eight articles behind each wall is a dead letter `wall` that names it.

    Articles whose redirects or texts only look like walls are all published.
    """
    pages, clock = Web(), Clock()
    for line in (*WALLS.values(), *ARTICLES.values()):
        line(pages)
    pages.put("meta.example/login?a=1", html(SORRY))
    pages.put("refresh.example/gate", html(SORRY))
    certificates = Certificates(tmp_path)
    publish(*(sent for host in (*WALLS, *ARTICLES) for sent in items(host)))

    async def through() -> None:
        async with serving(pages, certificates.context()):
            settings = reaching(
                job, pages, park_seconds=0.5, fetch_ca_file=certificates.ca_file, host_pause=0.02
            )
            async with started(settings, partial(Fetch, clock=clock)) as (stage,):
                assert isinstance(stage, Fetch)
                await wait_out(stage, pages, clock)

    run(through())
    published = Counter(page.url.split("/")[2] for page in pages_of(read_all))
    assert published == dict.fromkeys(ARTICLES, COUNT)
    refused: Counter[tuple[str, str]] = Counter()
    messages: dict[str, set[str]] = defaultdict(set)
    for record in read_all("dead-letters"):
        letter = DeadLetter.from_record(record.key, record.value, record.headers)
        host = fetches.decode(letter.original.value).url.split("/")[2]
        refused[host, str(letter.reason)] += 1
        messages[host].add(letter.message)
    assert refused == {(host, "wall"): COUNT for host in WALLS}
    for host, (wall, place) in LED_TO.items():
        assert all(f"wall {wall!r}" in text for text in messages[host])
        assert all(f"ended at http://{place}" in text for text in messages[host])
