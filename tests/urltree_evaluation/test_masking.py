"""Tests of the masked variant of a site, which has other names but the same text and structure."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path
from string import ascii_lowercase

import pytest

from tests.conftest import Record
from urltree.address.domain import Domains
from urltree.html.blocks import TokenizedPage
from urltree.html.elements import read_attributes
from urltree.html.tokenizer import tokenize
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.gate.masking import Masking

STREAMS = Path(__file__).parents[3] / "shared" / "data" / "streams"
FIRST, EVERY = 201, 100  # every 100th of the first 201 pages of each stream

PAGE = """<!DOCTYPE html><html class=no-js><head>
<title>A story < another | The site</title>
<meta property="og:title" content="A story"><meta content='A story' name=twitter:title>
<meta property="og:site_name" content="The site">
<link rel=canonical href="https://blog.site.co.uk/a-story">
<script type="application/ld+json">
{"headline": "A \\"story\\"", "url": "https:\\/\\/blog.site.co.uk\\/a-story"}
</script>
<script>document.write('<p class="menu">')</script></head>
<!--><body id=top class='blog post-12'>
<div class="Side-bar
  menu" title="it's"><a href=//site.co.uk/x?to=https%3A%2F%2Fwww.site.co.uk%2F>See site.co.uk</a>
</div>
<p title=it's class="menu">class="menu" is <code>&lt;p class="menu"&gt;</code></p>
<p data-a='<p class="menu">' class=text>Other: <a href="https://mysite.co.uk/">my</a>
<a href="https://site.co.uk.example.org/">its</a></p></body></html>"""


@pytest.fixture
def masking() -> Masking:
    """Return the masking of the site to which PAGE belongs."""
    return Masking("site.co.uk")


def texts(page: TokenizedPage) -> list[str]:
    """Return the texts of all blocks of a page."""
    return [block.text for block in page.blocks]


def shape(page: TokenizedPage) -> list[tuple[str, int, int]]:
    """Return tag, parent and number of class names of each element."""
    return [(element.tag, element.parent, len(element.tokens)) for element in page.elements]


def test_text_and_structure_stay(masking: Masking) -> None:
    """After masking, blocks have the same text, and elements the same number of class names."""
    plain, masked = tokenize(PAGE), tokenize(masking.html(PAGE))
    assert len(plain.blocks) == 3
    assert texts(masked) == texts(plain)
    assert shape(masked) == shape(plain)


def test_tokens_are_renamed_wherever_they_stand(masking: Masking) -> None:
    """Class names and ids of all elements are renamed in the same way, with or without quotes."""
    plain, masked = tokenize(PAGE), tokenize(masking.html(PAGE))
    for before, after in zip(plain.elements, masked.elements, strict=True):
        bare = [(token[:1] == "#", token.removeprefix("#")) for token in before.tokens]
        assert list(after.tokens) == ["#" * is_id + masking.token(token) for is_id, token in bare]
        assert not set(after.tokens) & set(before.tokens)


def test_titles_are_gone(masking: Masking) -> None:
    """Titles are removed from <title>, metadata and JSON-LD. The name of the site stays."""
    masked = masking.html(PAGE)
    assert tokenize(masked).title is None
    assert "A story" not in masked
    assert '"headline": "",' in masked
    assert 'content="The site"' in masked


def test_hosts_of_the_site_have_other_names(masking: Masking) -> None:
    """Hosts of the site are renamed in attributes and scripts, but not in text.

    Percent-encoded hosts are renamed, too.
    """
    masked = masking.html(PAGE)
    assert masked.count("site.co.uk") == 3
    assert "See site.co.uk" in masked
    assert "https://mysite.co.uk/" in masked
    assert "https://site.co.uk.example.org/" in masked
    assert f"href=//{masking.masked_domain}/x?to=https%3A%2F%2Fwww.{masking.masked_domain}%2F" in (
        masked
    )


@pytest.mark.parametrize("host", ["", "www.", "blog.", "www.blog.", "user.blog."])
def test_a_renamed_host_has_as_many_labels_below_one_domain(masking: Masking, host: str) -> None:
    """A renamed host has as many labels as before, so that a branch keeps its depth.

    The label `www` stays, because it is not a part of a branch.
    """
    renamed = masking.url(f"https://{host}site.co.uk/2020/a?b=1").split("/")
    labels, domain = renamed[2].removesuffix(masking.masked_domain), masking.masked_domain
    assert [*renamed[:2], *renamed[3:]] == ["https:", "", "2020", "a?b=1"]
    assert Domains().of(renamed[2]) == domain
    assert labels.count(".") == host.count(".")
    assert ("www." in labels, "blog" in labels) == ("www." in host, False)


def test_no_two_tokens_become_one_and_none_stays(masking: Masking) -> None:
    """On each of two sites, no two words of three letters get the same new name; all change."""
    tokens = ["".join(letters) for letters in product(ascii_lowercase, repeat=3)]
    for each in (masking, Masking("other.example")):
        masked = [each.token(token) for token in tokens]
        assert sorted(masked) == tokens
        assert all(map(str.__ne__, masked, tokens))


def test_a_token_keeps_its_shape(masking: Masking) -> None:
    """A renamed token has capitals, digits and other characters at the same positions as before."""
    masked = masking.token("Nav-2_überX:a&amp;b")
    assert [c if not c.isascii() or not c.isalpha() else "aA"[c.isupper()] for c in masked] == list(
        "Aaa-2_üaaaA:a&aaa;a"
    )
    assert masked[-5:-1] == "amp;"


@pytest.mark.parametrize("token", ["post-12", "20200101", "css-1q2w3e", "x" * 41])
def test_what_the_tokenizer_drops_stays(masking: Masking, token: str) -> None:
    """Names that the tokenizer drops are not renamed, because no heuristic sees them."""
    assert masking.token(token) == token


def test_no_token_becomes_one_that_the_tokenizer_drops() -> None:
    """No name becomes one that the tokenizer drops, such as `id-2` from `ab-2`, on any site."""
    tokens = [f"{a}{b}-2" for a, b in product(ascii_lowercase, repeat=2) if a + b != "id"]
    for site in ("a.example", "b.example", "c.example"):
        masked = [Masking(site).token(token) for token in tokens]
        assert all(read_attributes({"class": token})[0] for token in masked)
        assert sorted(masked) == sorted(tokens)


def test_a_name_depends_on_the_site_alone() -> None:
    """The new name of a token depends only on the site: it is always the same on one site.

    Another site has another name.
    """
    assert Masking("a.example").token("sidebar") == Masking("a.example").token("sidebar")
    assert Masking("a.example").token("sidebar") != Masking("b.example").token("sidebar")
    assert Masking("a.example").masked_domain != Masking("b.example").masked_domain


def test_what_was_tuned_to_a_class_finds_nothing(masking: Masking) -> None:
    """A rule that uses a class name of the site finds nothing on the masked page.

    The gate also measures masked pages, and therefore detects such a rule.
    """

    def in_menu(page: TokenizedPage) -> list[str]:
        return [b.text for b in page.blocks if "menu" in page.elements[b.element].tokens]

    assert len(in_menu(tokenize(PAGE))) == 2
    assert in_menu(tokenize(masking.html(PAGE))) == []


def test_text_and_structure_of_real_pages_stay(record: Record) -> None:
    """Three real pages of each stream keep their text and structure, and lose their titles."""
    if not STREAMS.is_dir():
        pytest.skip(f"no pages at {STREAMS}")
    pages = 0
    for file in sorted(STREAMS.glob("*.jsonl.zst")):
        for page in islice(read(file), 0, FIRST, EVERY):
            plain = tokenize(page.html)
            masked = tokenize(Masking(page.domain).html(page.html))
            assert texts(masked) == texts(plain), page.url
            assert shape(masked) == shape(plain), page.url
            assert not masked.title, page.url
            pages += 1
    record(f"gate: masked pages with the same text and structure: {pages} of {pages}")
