"""Tests that each generator changes a small site as described, and that its gold stays correct."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest
import zstandard
from click.testing import CliRunner

from bench.hard_streams import GENERATORS, streams
from bench.hard_streams.__main__ import main
from bench.hard_streams.addresses import MERGED, sections
from bench.hard_streams.ceiling import ceiling
from bench.hard_streams.cut_page import cut_page, paragraphs
from bench.hard_streams.wording import CONSENT, OFFERS
from urltree.html.tokenizer import tokenize
from urltree_evaluation.corpus import CorpusPage

PAGES = 60
PARAGRAPHS = 7
CLASS = re.compile(r'class="([^"]*)"')


def name(number: int) -> str:
    """Return a word of letters that is different for each number."""
    return "".join(chr(ord("a") + number // 26**place % 26) * 2 for place in range(2))


def page(number: int, site: str = "example.org") -> CorpusPage:
    """Return a page with a menu, an article, a line below the article, and a footer."""
    title = f"Story {name(number)}"
    texts = [
        f"Part {name(n)} of {name(number)} tells what {site} knows." for n in range(PARAGRAPHS)
    ]
    body = "".join(f"<p>{text}</p>" for text in texts)
    return CorpusPage(
        id=f"{site}/{number}",
        url=f"https://{site}/news/{name(number)}",
        domain=site,
        html=f"<html><head><title>{title} | Site</title></head><body><div class='menu'>Home and"
        f" more</div><div id='main'><h1>{title}</h1><div class='text'>{body}<div>Share this</div>"
        f"</div></div><div class='foot'>All rights are ours</div></body></html>",
        published=f"2026-01-{number % 28 + 1:02}T00:00:00Z",
        title=title,
        gold="\n".join([title, *texts]),
    )


SITE = [page(number) for number in range(PAGES)]


def blocks(of: CorpusPage) -> list[str]:
    """Return the texts of a page's blocks."""
    return [block.text for block in tokenize(of.html).blocks]


def added(of: CorpusPage) -> list[str]:
    """Return the texts that a generator has added to the page."""
    (original,) = [page for page in SITE if page.id == of.id]
    return list((Counter(blocks(of)) - Counter(blocks(original))).elements())


def test_a_page_is_cut_around_its_article() -> None:
    """The joined pieces of a cut page give the same blocks.

    The paragraphs are the lines of the gold.
    """
    article = cut_page(SITE[3])
    assert article is not None
    assert [lines for _, lines in paragraphs(article)] == [[text] for text in article.gold[1:]]
    assert tokenize(article.put({})).blocks == tokenize(SITE[3].html).blocks
    assert article.standfirst == article.gold[1]


def test_parts_that_lie_deeper_belong_to_the_article() -> None:
    """The paragraphs of a quotation are one part of the article, so that no text is lost."""
    html = (
        "<body><div><div><p>One.</p><blockquote><p>Two.</p><p>Three.</p></blockquote></div></div>"
    )
    article = cut_page(CorpusPage("a", "", "", html, title="T", gold="T\nOne.\nTwo.\nThree."))
    assert article is not None
    assert [lines for _, lines in paragraphs(article)] == [["One."], ["Two.", "Three."]]


def test_a_page_that_cannot_be_cut_is_not_scored() -> None:
    """A page that cannot be cut has no gold, because the generator has not changed it."""
    bare = CorpusPage(
        "a", "https://example.org/a", "example.org", "<p>Text", title="T", gold="T\nX"
    )
    assert cut_page(bare) is None
    for generate in GENERATORS.values():
        assert {page.gold for page in generate([bare]) if page.url == bare.url} == {None}


@pytest.mark.parametrize("generate", GENERATORS.values(), ids=GENERATORS)
def test_a_choice_of_blocks_can_be_right(generate: Callable[..., list[CorpusPage]]) -> None:
    """For each page with gold, some choice of its blocks has an F1 of 1.

    Each generator gives some pages with gold, and no two pages with the same id.
    """
    pages = generate(SITE)
    scored = [page for page in pages if page.gold is not None]
    assert scored
    assert min(map(ceiling, scored)) == 1
    assert len({page.id for page in pages}) == len(pages)
    assert {page.id.partition("~")[0] for page in pages} <= {page.id for page in SITE}


@pytest.mark.parametrize("generate", GENERATORS.values(), ids=GENERATORS)
def test_a_stream_is_generated_the_same_again(generate: Callable[..., list[CorpusPage]]) -> None:
    """A generator gives the same pages again, because its randomness depends only on the page.

    A generated page depends only on pages near it.
    """
    assert generate(SITE) == generate(list(SITE))


@pytest.mark.parametrize(
    ("generator", "telling"),
    [
        ("teasers", "related-posts"),
        ("fronts", "news-list"),
        ("interjections", "advertisement"),
        ("author-boxes", "author-box"),
        ("paywall", "paywall"),
        ("consent", "cookie-consent"),
        ("captions", "gallery"),
        ("scroll-to-older", "next-article"),
    ],
)
def test_neutral_names_have_no_meaning(generator: str, telling: str) -> None:
    """With neutral class names, the pages have the same text, and no class name has a meaning."""
    first, second = GENERATORS[generator](SITE), GENERATORS[f"{generator}-neutral"](SITE)
    assert telling in {found for page in first for found in CLASS.findall(page.html)}
    assert not any(telling in page.html for page in second)
    assert list(map(blocks, first)) == list(map(blocks, second))


def test_teasers_are_of_four_of_the_last_eight_articles() -> None:
    """A page gets teasers of four of the last eight articles.

    Each teaser has title and first paragraph of its article, and none is gold.
    """
    plain, linked = GENERATORS["teasers"](SITE)[20], GENERATORS["teasers-linked"](SITE)[20]
    recent = [(page.gold or "").split("\n")[:2] for page in SITE[12:20]]
    found = added(plain)
    assert len(found) == 8
    assert all(text in [line for pair in recent for line in pair] for text in found)
    assert plain.gold == SITE[20].gold
    assert added(linked) == found
    assert linked.html.count("<a ") == 4
    assert "<a " not in plain.html


def test_a_front_shows_articles_before_they_are_fetched() -> None:
    """A front page with the first paragraphs of 20 articles follows every tenth page.

    Ten of these articles come later in the stream, and the front page itself has no gold.
    """
    pages = GENERATORS["fronts"](SITE)
    fronts = [number for number, page in enumerate(pages) if page.gold is None]
    assert fronts[:3] == [10, 21, 32]
    assert len({pages[number].url for number in fronts}) == len(fronts)
    shown = blocks(pages[21])
    leads = [(page.gold or "").split("\n")[1] for page in SITE[10:30]]
    assert [text for text in shown if text in leads] == leads
    assert not any(page.gold and text in leads[10:] for page in pages[:21] for text in blocks(page))


def test_interjections_are_between_paragraphs() -> None:
    """Interjections are between paragraphs, and none follows the last paragraph."""
    found = blocks(GENERATORS["interjections"](SITE)[9])
    start = found.index("Share this") - PARAGRAPHS - 4
    kinds = [text.split(" ")[0] for text in found[start : start + PARAGRAPHS + 4]]
    one, more, advertisement = "Part", "Read", "Advertisement"
    assert kinds == [one, one, more, one, advertisement, one, one, more, one, advertisement, one]


def test_an_authors_box_is_on_a_few_pages() -> None:
    """There are at least 30 author boxes, and the most frequent is on at most 7 % of pages."""
    many = [page(number) for number in range(600)]
    pages = GENERATORS["author-boxes"](many)
    boxes = Counter(blocks(page)[-2] for page in pages)
    assert len(boxes) >= 30
    assert max(boxes.values()) <= 0.07 * len(many)


def test_a_paywall_follows_the_first_paragraph() -> None:
    """The offer of a subscription follows the first paragraph of each page.

    With `paywall-ends`, article and gold end before the offer on about two of five pages.
    """
    whole, ended = GENERATORS["paywall"](SITE), GENERATORS["paywall-ends"](SITE)
    titles = {offer[0] for offer in OFFERS}
    for pages in (whole, ended):
        assert {blocks(page)[3] for page in pages} == titles
    assert [page.gold for page in whole] == [page.gold for page in SITE]
    short = [page for page in ended if (page.gold or "").count("\n") == 1]
    assert 10 < len(short) < 40
    assert all("Share this" not in page.html for page in short)


def test_consent_banners_have_three_languages() -> None:
    """Consent banners have three languages, and are at the same place on all pages of a site."""
    pages = GENERATORS["consent"](SITE)
    first = {blocks(page)[0] for page in pages} | {blocks(page)[-5] for page in pages}
    assert {texts[0] for texts in CONSENT} <= first
    assert any(added(page)[0] == blocks(page)[0] for page in pages) != any(
        added(page)[-1] == blocks(page)[-1] for page in pages
    )


def test_captions_are_gold() -> None:
    """Each caption is in the gold, in the order of the page."""
    changed = GENERATORS["captions"](SITE)[7]
    assert len(added(changed)) == 6
    lines = (changed.gold or "").split("\n")
    assert set(added(changed)) <= set(lines)
    assert [text for text in blocks(changed) if text in lines] == lines


@pytest.mark.parametrize(("generator", "step"), [("scroll-to-older", -1), ("scroll-to-newer", 1)])
def test_infinite_scroll_appends_a_neighbour(generator: str, step: int) -> None:
    """The article of the next or the previous page is appended to each page.

    The gold stays the page's own article.
    """
    changed = GENERATORS[generator](SITE)[7]
    other = [*(SITE[7 + step].gold or "").split("\n"), "Share this"]
    assert blocks(changed) == [*blocks(SITE[7])[:-1], *other, blocks(SITE[7])[-1]]
    assert changed.gold == SITE[7].gold


def test_a_live_blog_grows_under_its_address() -> None:
    """A live blog is fetched three times under one URL, with its newest entry first.

    The last version has all entries.
    """
    pages = [page for page in GENERATORS["live-blogs"](SITE) if page.gold]
    (address,) = {page.url for page in pages if page.id.startswith("example.org/8~")}
    versions = [(page.gold or "").split("\n") for page in pages if page.url == address]
    title, lead, *entries = (SITE[8].gold or "").split("\n")
    assert versions == [[title, lead, *entries[:count][::-1]] for count in (2, 4, 6)]


def test_copies_have_another_address_and_the_same_gold() -> None:
    """One of five pages has a copy with another URL and the same gold.

    Half of the copies are unchanged and in the same section; the others are plain pages in another
    section.
    """
    pages = GENERATORS["copies"](SITE)
    originals = {page.id: page for page in SITE}
    again = [page for page in pages if page.id.endswith("~copy")]
    assert len(again) in (PAGES // 5 - 1, PAGES // 5)  # the last copy may be missing
    for copy in again:
        original = originals[copy.id.removesuffix("~copy")]
        assert pages.index(original) < pages.index(copy)
        assert copy.gold == original.gold
        assert copy.url != original.url
    exact = {copy.url.split("/")[3]: "Home and more" in copy.html for copy in again}
    assert exact == {"news": True, "partners": False}


def test_names_get_new_hashes_every_200_pages() -> None:
    """Every 200 pages, each class name gets another name.

    No class name stays as it was, and nothing else changes.
    """
    many = [page(number) for number in range(201)]
    pages = GENERATORS["hashed-classes"](many)
    first, last, next_ = ([*CLASS.findall(pages[n].html)] for n in (0, 199, 200))
    assert first == last
    assert set(first).isdisjoint([*next_, "menu", "text", "foot"])
    assert list(map(blocks, pages)) == list(map(blocks, many))


@pytest.mark.parametrize(
    ("generator", "scored"),
    [("redesign-first-10", range(30, 40)), ("redesign-later", range(40, 60))],
)
def test_a_redesign_changes_all_but_the_article(generator: str, scored: Sequence[int]) -> None:
    """A redesign in the middle of the stream changes everything except the article.

    Only pages after it have gold.
    """
    pages = GENERATORS[generator](SITE)
    assert [number for number, page in enumerate(pages) if page.gold] == list(scored)
    assert pages[29].html == SITE[29].html
    article = (SITE[30].gold or "").split("\n")
    assert blocks(pages[30]) == [
        "more and Home new", *article, "Share this", "ours are rights All new",
    ]  # fmt: skip
    assert set(CLASS.findall(pages[30].html)).isdisjoint(["menu", "text", "foot"])


def test_sections_are_sites_under_one_domain() -> None:
    """Several sites become sections of one domain.

    Each page occurs once, in the order of its site, and later than the page before it.
    """
    sites = [[page(number, site) for number in range(9)] for site in ("a.example", "b.example")]
    merged = sections(sites)
    assert {page.domain for page in merged} == {MERGED}
    assert [page.published for page in merged] == sorted(page.published or "" for page in merged)
    for number, pages in enumerate(sites):
        section = [page for page in merged if f"/section{number}/" in page.url]
        assert [page.html for page in section] == [page.html for page in pages]
    assert merged[:9] != sorted(merged, key=lambda page: page.url)[:9]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two streams to a folder."""
    streams = tmp_path_factory.mktemp("streams")
    for site in ("one.example", "two.example"):
        lines = [
            orjson.dumps({key: getattr(of, key) for key in ("url", "html", "title", "gold")})
            for of in (page(number, site) for number in range(24))
        ]
        (streams / f"{site}.jsonl.zst").write_bytes(zstandard.compress(b"\n".join(lines)))
    return streams


def test_streams_are_chosen_by_name(folder: Path) -> None:
    """Only the requested sites and generators are used."""
    found = list(streams(folder, ["two.example"], 20, ["copies", "captions"]))
    assert [name for name, _ in found] == ["captions", "copies"]
    assert {page.domain for _, pages in found for page in pages} == {"two.example"}
    assert len(found[0][1]) == 20


def test_the_command_prints_a_line_for_each_generator(folder: Path) -> None:
    """The command prints a line for each generator, with ceiling, F1 and loss.

    A live blog is scored by its last version.
    """
    chosen = ["live-blogs", "copies", "sections"]
    options = [part for name in chosen for part in ("--generator", name)]
    arguments = [str(folder), "--sites", "all", "--pages", "24", "--processes", "1", *options]
    ran = CliRunner(catch_exceptions=False).invoke(main, arguments)
    assert ran.exit_code == 0, ran.output
    lines = {line.split()[0]: line.split() for line in ran.stdout.splitlines()}
    assert [name for name in lines if name in chosen] == chosen
    assert {lines[name][3] for name in chosen} == {"1.0000"}
    assert float(lines["live-blogs"][5]) > 0.8
