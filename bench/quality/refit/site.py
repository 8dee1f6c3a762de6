"""The first pages of a site, which are tokenised once and judged with many settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import compress, islice
from operator import not_
from pathlib import Path
from statistics import fmean

from bench.quality.passes import is_scored
from bench.quality.refit.setting import ListedWord, Setting
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.evidence import Evidence
from urltree.heuristics.evidence.names import NameMeaning
from urltree.heuristics.evidence.parameters import Parameters
from urltree.html.tokenizer import tokenize
from urltree.site.site import Site
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words

PAGES = 60  # pages of each site, so few that none is evicted; all pages would take hours


@dataclass(slots=True)
class GoldPage:
    """A page with its gold and with a cache of scores.

    Attributes:
        document: the page as a document.
        gold: words of the gold; None if the page is learned but not scored.
        blocks: words of each block; empty if the page is not scored.
        known: F1 of each verdict that was scored.
    """

    document: Document
    gold: list[str] | None
    blocks: list[list[str]]
    known: dict[tuple[bool, ...], float] = field(default_factory=dict)

    def f1(self, boilerplate: tuple[bool, ...]) -> float:
        """Return the F1 of a verdict; it is cached, because most settings give the same verdict."""
        found = self.known.get(boilerplate)
        if found is None:
            kept = compress(self.blocks, map(not_, boilerplate))
            said = [word for block in kept for word in block]
            found = self.known[boilerplate] = compare(self.gold or [], said).f1
        return found


@dataclass(slots=True)
class FittingSite:
    """A site that is used for fitting or measuring.

    Attributes:
        pages: first pages of the site.
        tokens: the different sets of class and id tokens that elements of the site have, with and
            without the ids.
        known: F1 by the numbers of a setting and by the meanings that it gives to these tokens.
        words: whether each word applies to an element of the site.
    """

    pages: list[GoldPage]
    tokens: tuple[tuple[str, ...], ...]
    known: dict[tuple[Parameters, tuple[NameMeaning, ...]], float] = field(default_factory=dict)
    words: dict[ListedWord, bool] = field(default_factory=dict)

    def f1(self, setting: Setting) -> float:
        """Return the mean F1 of the scored pages with a setting.

        Settings that give the same meanings to the tokens of this site share one result.
        """
        names = setting.names()
        what = setting.numbers, tuple(map(names.of, self.tokens))
        if what not in self.known:
            domain = Site(Evidence(setting.numbers, names), None)
            self.known[what] = fmean(
                page.f1(verdict.boilerplate)
                for page in self.pages
                for verdict in [domain.learn(page.document, None).verdict]
                if page.gold is not None
            )
        return self.known[what]

    def has(self, word: ListedWord) -> bool:
        """Return whether a word applies to an element of the site."""
        if word not in self.words:
            self.words[word] = any(any(said) for said in map(word.alone().of, self.tokens))
        return self.words[word]


@lru_cache(maxsize=64)
def load_site(file: Path, pages: int = PAGES) -> FittingSite:
    """Read the first pages of a stream with the records' titles; only scored pages have gold."""
    scheme, seen, found = KeyScheme(), set[str](), list[GoldPage]()
    tokens = set[tuple[str, ...]]()
    for number, page in enumerate(islice(read(file), pages), start=1):
        document = _document(page, scheme)
        if document.id in seen:
            continue
        seen.add(document.id)
        tokens.update(element.tokens for element in document.elements)
        gold = split_words(page.gold) if page.gold is not None and is_scored(number) else None
        blocks = [split_words(block.text) for block in document.blocks] if gold is not None else []
        found.append(GoldPage(document, gold, blocks))
    tokens |= {tuple(token for token in together if token[0] != "#") for together in tokens}
    return FittingSite(found, tuple(sorted(tokens)))


def mean_of_sites(files: Iterable[Path], setting: Setting, pages: int = PAGES) -> float:
    """Return the mean F1 of several sites with a setting."""
    return fmean(load_site(file, pages).f1(setting) for file in files)


def _document(page: CorpusPage, scheme: KeyScheme) -> Document:
    tokens = tokenize(page.html)
    key = scheme.key(page.url, lambda: tokens.title)
    return Document.of(replace(as_page(page), title=page.title), key, tokens, page.id)
