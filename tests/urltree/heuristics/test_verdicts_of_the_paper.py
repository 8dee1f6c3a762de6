"""The four heuristics give the verdicts of the paper, which `paper.py` computes independently.

Both are compared on generated sites and, if `../shared` exists, on the first pages of each measured
site. With STREAMS=whole they are compared on all 11,068 pages.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

import orjson
import pytest
import zstandard

from tests.urltree import paper
from tests.urltree.builders import document
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.registry import heuristic
from urltree.html.tokenizer import tokenize
from urltree.page import Page
from urltree.site.site import Site
from urltree.tree.window import DAY, Eviction

STREAMS = Path(__file__).parents[4] / "shared" / "data" / "streams"
SITES = sorted(STREAMS.glob("*.jsonl.zst"))
FIRST = None if os.environ.get("STREAMS") == "whole" else 110  # number of pages

EVICTIONS = (None, Eviction(), Eviction(max_documents=60, max_age=30 * DAY, keep=20))
PAPERS = ("strict", "strict-support-100", "strict-at-domain", "relaxed-at-domain-500")
EPOCH = datetime(2013, 10, 27, tzinfo=UTC)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("eviction", EVICTIONS, ids=str)
def test_generated_sites_get_the_verdicts_of_the_paper(
    eviction: Eviction | None, seed: int
) -> None:
    """On generated sites the verdicts equal the paper's, for each heuristic.

    A site has over 500 documents, which is more than any heuristic needs at a judging node.
    """
    verdicts, differing = compare(generated_site(random.Random(seed)), eviction)
    assert verdicts > len(PAPERS) * 5_000
    assert differing == []


@pytest.mark.skipif(not SITES, reason=f"needs the measured sites in {STREAMS}")
@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name.removesuffix(".jsonl.zst"))
def test_real_sites_get_the_verdicts_of_the_paper(
    site: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """On measured sites the verdicts equal the paper's, for each heuristic and each eviction."""
    compared = 0
    for documents in real_domains(site):
        for eviction in EVICTIONS:
            verdicts, differing = compare(documents, eviction)
            assert differing == []
            compared += verdicts
    assert compared > 0
    record_testsuite_property(f"verdicts of {site.name}", compared)


def compare(documents: list[Document], eviction: Eviction | None) -> tuple[int, list[str]]:
    """Return the number of compared verdicts, and the heuristic and page of each difference."""
    compared, differing = 0, []
    domains = {name: Site(heuristic(name), eviction) for name in PAPERS}
    for each, expected in zip(documents, said_in_the_paper(documents, eviction), strict=True):
        for name, domain in domains.items():
            said = domain.learn(each, None).verdict.boilerplate
            compared += len(said)
            if list(said) != expected[name]:
                differing.append(f"{name} on {each.url_key}")
    return compared, differing


def said_in_the_paper(
    documents: Iterable[Document], eviction: Eviction | None
) -> Iterator[dict[str, list[bool]]]:
    """Return, for each document, the verdicts that `paper.py` computes by heuristic."""
    pages = (
        paper.Page(each.time or 0, each.id, each.branch, [block.hash for block in each.blocks])
        for each in documents
    )
    if eviction is None:
        return paper.verdicts(pages, most=2**63, age=0, keep=2**63)
    return paper.verdicts(pages, eviction.max_documents, eviction.max_age, eviction.keep)


def generated_site(chance: random.Random) -> list[Document]:
    """Return a site of sections with menus, a changing sidebar, and quotes that recur."""
    documents = []
    for number in range(600):
        section = chance.randrange(6)
        template = [1, 2, 100 + section, 200 + number // 25]
        quotes = [1_000 + chance.randrange(500) for _ in range(4)]
        own = [10_000 * number + at for at in range(chance.randrange(4))]
        blocks = chance.choices([*template, *quotes, *own], k=chance.randrange(24))
        date = EPOCH + timedelta(hours=number * 4 + chance.randrange(-200, 200))
        path = "/".join(["", "news", "news/2013", "blog", "a/b/c", "a/b"][section : section + 1])
        where = f"{path}/{number}" if number % 7 else path
        documents.append(document(number, blocks, where, published=date.isoformat()))
    return documents


def real_domains(site: Path) -> list[list[Document]]:
    """Return the pages of a stream by site, without duplicates."""
    scheme, domains = KeyScheme(), defaultdict[str, dict[str, Document]](dict)
    with zstandard.open(site, "rt", encoding="utf-8") as stream:
        for line in islice(stream, FIRST):
            page = Page.from_fields(orjson.loads(line))
            key = scheme.key(page.final_url or "", partial(getattr, page, "title"))
            if key.id not in domains[key.domain]:
                new = Document.of(page, key, tokenize(page.html), origin="raw-html/0/0")
                domains[key.domain][key.id] = new
    return [list(documents.values()) for documents in domains.values()]
