"""The sample of web sites is always the same, is large enough, and has correct gold."""

from __future__ import annotations

import hashlib
from collections import Counter
from urllib.parse import urljoin, urlsplit

import pytest

from demo.sites import SampleItem, SiteSample, make_sample
from demo.sites.sample import NO_PAGES
from urltree.address.url_key import KeyScheme
from urltree.html.tokenizer import tokenize
from urltree.page import Page
from urltree.site.deduplication import Step, duplicate_step
from urltree.site.seen import Seen

DIGEST = "1d9ea3c0638c5339"


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    """Return the pages of all items of the sample, after redirects."""
    return [_visit(item) for item in make_sample().items]


def _visit(item: SampleItem) -> Page:
    passed = [item.url]
    while True:
        parts = urlsplit(passed[-1])
        site = make_sample().site(parts.netloc)
        assert site
        answer = site.answer(
            parts.scheme, parts._replace(scheme="", netloc="", fragment="").geturl()
        )
        if answer.location is None:
            break
        passed.append(urljoin(passed[-1], answer.location))
    return Page(
        url=item.url,
        html=answer.body,
        response_url=passed[-1] if len(passed) > 1 else None,
        content_type=answer.content_type,
        status=answer.status,
        title=item.title,
        published=item.published.isoformat(),
    )


def test_the_sample_is_the_same_everywhere(pages: list[Page]) -> None:
    """The sample has the same addresses, times, redirects and bodies on every machine."""
    digest = hashlib.sha256()
    for page in pages:
        digest.update(repr((page.url, page.response_url, page.published, page.html)).encode())
    assert digest.hexdigest()[:16] == DIGEST


def test_another_seed_gives_other_articles() -> None:
    """The articles depend on the seed."""
    one, other = make_sample("one", 3), make_sample("other", 3)
    assert {i.title for i in one.items} & {i.title for i in other.items} == set(NO_PAGES)


def test_five_sites_have_a_hundred_pages_each(pages: list[Page]) -> None:
    """Each domain has at least 100 different articles with gold."""
    scheme = KeyScheme()
    urls = {page.final_url for page in pages if _gold(page)}
    domains = Counter(scheme.domain(url) for url in urls if url)
    assert len(domains) == 5
    assert min(domains.values()) >= 100


def test_gold_is_in_the_text_of_its_page(pages: list[Page]) -> None:
    """Each line of gold is the text of a block, in every charset."""
    for page in pages:
        gold = _gold(page)
        if gold:
            text = "\n".join(b.text for b in tokenize(page.html, page.content_type).blocks)
            assert [line for line in gold.split("\n") if line not in text] == [], page.url


def test_gold_is_not_the_whole_page(pages: list[Page]) -> None:
    """Less than 95 % of the text of a page is gold; the rest is boilerplate around the article."""
    for page in pages:
        gold = _gold(page)
        if gold:
            blocks = tokenize(page.html, page.content_type).blocks
            assert len(gold) < 0.95 * sum(len(block.text) for block in blocks), page.url


def test_every_kind_of_duplicate_occurs(pages: list[Page]) -> None:
    """For each step of normalisation, the sample has duplicates that this step detects."""
    scheme, first, steps = KeyScheme(), dict[str, Seen](), Counter[Step | None]()
    for at, page in enumerate(page for page in pages if _gold(page)):
        key = scheme.key(page.final_url or "", lambda: None)
        seen = Seen.of(f"t/0/{at}", 0, page.url or "", page.final_url or "", key.canonical)
        if key.id in first:
            steps[duplicate_step(first[key.id], seen)] += 1
        first.setdefault(key.id, seen)
    assert set(steps) == set(Step) - {Step.SUPERSEDED}


def test_syndicated_pieces_have_one_text_and_two_addresses() -> None:
    """At least eight texts appear in two articles each, at different addresses."""
    bodies = Counter(article.gold for site in make_sample().sites for article in site.articles)
    assert sum(count == 2 for count in bodies.values()) >= 8


def test_bad_addresses_are_bad(pages: list[Page]) -> None:
    """Each site has a missing page, one that robots.txt forbids, an empty page and a PDF.

    Without robots.txt, a request for the forbidden page would get 410.
    """
    bad = [page for page in pages if not _gold(page)]
    kinds = Counter((page.status, page.content_type == "application/pdf") for page in bad)
    assert kinds == {(410, False): 10, (200, False): 5, (200, True): 5}
    assert sum(page.status == 200 and page.html == b"" for page in bad) == 5


def test_an_article_comes_up_again_with_another_date() -> None:
    """Some addresses have two items with different dates, which feed readers treat as two items."""
    items = make_sample().items
    assert max(Counter(item.url for item in items).values()) == 2
    assert max(Counter((item.url, item.published) for item in items).values()) == 1
    assert max(Counter(item.id for item in items).values()) == 1


def test_front_and_section_pages_lead_to_the_articles() -> None:
    """The front page and the section pages of a site link to its articles."""
    for site in make_sample().sites:
        for target in ("/", f"/{next(iter(site.sections))}/"):
            answer = site.answer("https", target)
            assert answer.status == 200
            html = answer.body.decode(site.charset)
            assert any(site.url(article).replace("&", "&amp;") in html for article in site.articles)


def test_a_foreign_host_is_refused() -> None:
    """The server finds a site by a host name of the sample, and no site for other hosts."""
    assert SiteSample((), {}).site("example.org") is None
    assert make_sample().site("FORUM.veloklub.example:443") is not None


def _gold(page: Page) -> str | None:
    return make_sample().gold(page.final_url or "")
