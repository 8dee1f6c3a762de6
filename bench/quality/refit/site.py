"""A site's first pages, tokenised once and judged by one setting after another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import compress, islice
from operator import not_
from pathlib import Path
from statistics import fmean

from bench.quality.passes import is_scored
from bench.quality.refit.setting import Setting, Word
from urltree.address.url_key import KeyScheme
from urltree.document import Document
from urltree.heuristics.evidence import Evidence
from urltree.heuristics.evidence.names import Said
from urltree.heuristics.evidence.parameters import Parameters
from urltree.html.tokenizer import tokenize
from urltree.site.site import LearnedDomain
from urltree_evaluation.corpora.json_lines import read
from urltree_evaluation.corpus import CorpusPage
from urltree_evaluation.extractors.urltree_ import as_page
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words

PAGES = 60  # of a site, for all of them would take hours; of so few the window evicts none


@dataclass(slots=True)
class Judged:
    """A page with its gold, and what verdicts on it were worth.

    Attributes:
        gold: words; None where the page is learned from alone.
        blocks: words of each.
    """

    document: Document
    gold: list[str] | None
    blocks: list[list[str]]
    known: dict[tuple[bool, ...], float] = field(default_factory=dict)

    def f1(self, boilerplate: tuple[bool, ...]) -> float:
        """Of words; most settings say the same of a page."""
        found = self.known.get(boilerplate)
        if found is None:
            kept = compress(self.blocks, map(not_, boilerplate))
            said = [word for block in kept for word in block]
            found = self.known[boilerplate] = compare(self.gold or [], said).f1
        return found


@dataclass(slots=True)
class Site:
    """A site to fit on, or to measure on.

    Attributes:
        tokens: class and id tokens of its elements together, each once, also without the ids.
        known: F1 by numbers, and by what names say of those tokens.
    """

    pages: list[Judged]
    tokens: tuple[tuple[str, ...], ...]
    known: dict[tuple[Parameters, tuple[Said, ...]], float] = field(default_factory=dict)
    words: dict[Word, bool] = field(default_factory=dict)

    def f1(self, setting: Setting) -> float:
        """Mean F1 of the scored pages, one pass; words that change nothing here cost none."""
        names = setting.names()
        what = setting.numbers, tuple(map(names.of, self.tokens))
        if what not in self.known:
            domain = LearnedDomain(Evidence(setting.numbers, names), None)
            self.known[what] = fmean(
                page.f1(verdict.boilerplate)
                for page in self.pages
                for verdict in [domain.learn(page.document, None).verdict]
                if page.gold is not None
            )
        return self.known[what]

    def has(self, word: Word) -> bool:
        """Whether a word says something of an element of the site."""
        if word not in self.words:
            self.words[word] = any(any(said) for said in map(word.alone().of, self.tokens))
        return self.words[word]


@lru_cache(maxsize=64)
def site(file: Path, pages: int = PAGES) -> Site:
    """The first pages of a stream; scored are those of row 1, with the record's title given."""
    scheme, seen, found = KeyScheme(), set[str](), list[Judged]()
    tokens = set[tuple[str, ...]]()
    for number, page in enumerate(islice(read(file), pages), start=1):
        document = _document(page, scheme)
        if document.id in seen:
            continue
        seen.add(document.id)
        tokens.update(element.tokens for element in document.elements)
        gold = split_words(page.gold) if page.gold is not None and is_scored(number) else None
        blocks = [split_words(block.text) for block in document.blocks] if gold is not None else []
        found.append(Judged(document, gold, blocks))
    tokens |= {tuple(token for token in together if token[0] != "#") for together in tokens}
    return Site(found, tuple(sorted(tokens)))


def macro(files: Iterable[Path], setting: Setting, pages: int = PAGES) -> float:
    """Mean over sites."""
    return fmean(site(file, pages).f1(setting) for file in files)


def _document(page: CorpusPage, scheme: KeyScheme) -> Document:
    tokens = tokenize(page.html)
    key = scheme.key(page.url, lambda: tokens.title)
    return Document.of(replace(as_page(page), title=page.title), key, tokens, page.id)
