"""The inputs of a schedule: pages and bad records, each with an id of its own.

The id is in the header `chaos-input` of a record, whatever its value is, and in the meta string
`input` of a page, from which it comes back in clean text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

import orjson

from demo.sites import make_sample
from models import raw_html
from tests.chaos.plan import Keys, Plan, Profile
from tests.job.kafka_records import PARTITIONS, domain_of
from tests.job.pages import NOT_FOUND, pages, with_revisits
from urltree.page import Page
from urltree.reading import Reader
from urltree.reading.source import check_source

STREAMS = Path(__file__).parents[3] / "shared" / "data" / "streams"
HEADER = "chaos-input"
META = "input"
MAX_PAGE = 1_000_000  # setting max_page_bytes, in bytes

_REAL = 50  # number of pages of a real site
_LARGEST = 200_000  # larger real pages are left out, because one machine carries the whole cluster
_SAMPLES = 40  # number of pages of a sample site

CLEAN, DEAD, ANY = "clean", "dead", "any"


@dataclass(frozen=True)
class Input:
    """A record to publish.

    Attributes:
        id: unique id.
        expect: CLEAN if it must become clean text or a duplicate, DEAD if it must become a dead
            letter, ANY if either is right.
        partition: partition, or None if the producer's partitioner chooses it.
    """

    id: str
    expect: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    partition: int | None = None


def inputs_of(plan: Plan, profile: Profile, number: int) -> list[Input]:
    """Return the inputs of a producer in the order in which it publishes them."""
    random = Random(f"inputs {plan.seed} {profile.name}")
    made = _mixed(plan, profile, number, random)
    return [
        _bad(f"{profile.name}-{n}", random)
        if random.random() < 0.03
        else _input(f"{profile.name}-{n}", page, expect, profile, random)
        for n, (page, expect) in enumerate(made)
    ]


def _mixed(plan: Plan, profile: Profile, number: int, random: Random) -> list[tuple[Page, str]]:
    """Return pages of invented, sample and real sites; the pages of a site stay in order."""
    real = min(profile.real * _REAL, number // 4) if STREAMS.is_dir() else 0
    sample = min(_SAMPLES, number // 4) if profile.name in ("p1", "p2") else 0
    seed = random.randrange(2**32)
    invented = pages(number - real - sample, sites=3, seed=seed, name=f"{profile.name}-site")
    if plan.revisits == "replace":
        invented = with_revisits(invented, seed=seed)[: len(invented)]
    rows: list[list[tuple[Page, str]]] = [
        [(page, DEAD if _is_at_fault(page) else CLEAN) for page in invented],
        [(page, ANY) for page in _real_pages(profile, random, real)],
        [(page, CLEAN) for page in _sample_pages(profile, sample)],
    ]
    order = [n for n, row in enumerate(rows) for _ in row]
    random.shuffle(order)
    iterators = [iter(row) for row in rows]
    return [next(iterators[n]) for n in order]


def _is_at_fault(page: Page) -> bool:
    """Return whether an invented page has one of the faults that `tests.job.pages` makes."""
    html = page.html if isinstance(page.html, str) else page.html.decode()
    return (
        page.status == NOT_FOUND
        or not html.strip()
        or page.content_type == "application/pdf"
        or page.url == "https://"
    )


def _real_pages(profile: Profile, random: Random, number: int) -> Iterator[Page]:
    """Return pages of a real site; each producer has sites of its own."""
    if not number:
        return iter(())
    files = sorted(STREAMS.glob("*.jsonl.zst"))
    own = files[int(profile.name.removeprefix("p")) % 2 :: 2]
    sources = Reader().read([str(random.choice(own))])
    found = (check_source(source, "")[0] for source in sources)
    return islice((page for page in found if len(page.html) < _LARGEST), number)


def _sample_pages(profile: Profile, number: int) -> Iterator[Page]:
    """Return the articles of a sample site; each producer has a site of its own."""
    site = make_sample().sites[int(profile.name.removeprefix("p"))]
    for article in site.articles[:number]:
        answer = site.answer("https", site.address(article))
        yield Page(
            url=site.url(article),
            html=answer.body.decode(site.charset),
            published=article.published.isoformat(),
        )


def _input(id_: str, page: Page, expect: str, profile: Profile, random: Random) -> Input:
    page = replace(page, meta={META: id_})
    headers: list[tuple[str, bytes | None]] = [(HEADER, id_.encode())]
    if profile.bodies:
        value, fields = raw_html.to_record(page)
        headers += fields
    else:
        value = raw_html.encode(page)
    key, partition = _KEYS[profile.keys](page, random)
    return Input(id_, expect, key, value, headers, partition)


Choice = Callable[[Page, Random], tuple[bytes | None, int | None]]
_KEYS: Mapping[Keys, Choice] = {
    Keys.DOMAIN: lambda page, _: (domain_of(page), None),
    Keys.CRC32: lambda page, _: (domain_of(page), None),
    Keys.NULL: lambda _, random: (None, random.randrange(PARTITIONS)),
    Keys.NULL_ONE: lambda _, __: (None, 0),
    Keys.WRONG: lambda _, random: (b"wrong-%d" % random.randrange(20), None),
    Keys.BYTES: lambda _, random: (b"\xff\xfe%d" % random.randrange(20), None),
}


def _bad(id_: str, random: Random) -> Input:
    """Return a record that no stage can turn into text, and that must become a dead letter."""
    page = {"schema": 1, "url": f"https://bad.example/{id_}", "html": "<p>Some words.</p>"}
    values: tuple[bytes | None, ...] = (
        None,
        b"",
        b"no JSON at all",
        b"[1, 2, 3]",
        b'{"schema": 1',
        b"\xff\xfe\x00",
        orjson.dumps({"schema": 1, "html": "<p>A page without an address.</p>"}),
        orjson.dumps({**page, "url": "not an address"}),
        orjson.dumps({**page, "html": ""}),
        orjson.dumps({**page, "html": 7}),
        orjson.dumps({**page, "status": 503}),
        orjson.dumps({**page, "content_type": "image/png"}),
        orjson.dumps({**page, "schema": 99}),
        orjson.dumps({**page, "html": "<p>" + "much " * (MAX_PAGE // 4) + "</p>"}),
        orjson.dumps({**page, "html_base64": "%%%"}),
    )
    key = random.choice((None, b"bad.example", b"\xff"))
    partition = random.randrange(PARTITIONS)
    return Input(id_, DEAD, key, random.choice(values), [(HEADER, id_.encode())], partition)
