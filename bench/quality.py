"""Quality on real sites beside trafilatura: word sequences, true LCS, F1 (issue 5, "Metrics").

    every page of a site, in order ──▶ learned ──▶ every 10th: judged, compared with its gold

A word is what white space parts once punctuation, symbols and control characters are gone, in lower
case; Chinese, Japanese kana and Hangul count by character. F1 is the mean of a site's pages, then
of all sites. Gold begins with the title, so each is also scored with the record's title prepended
to what does not begin with it. Duplicates have no text: they are not scored.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import fmean
from typing import Any
from unicodedata import category

import trafilatura
from rapidfuzz.distance import LCSseq

from bench.figure import Figure, Section
from bench.pages import STREAMS, Pages
from urltree.document import Document
from urltree.heuristics import NAMES, heuristic
from urltree.inputs import Reader
from urltree.learning import LearnedDomain
from urltree.sources import check
from urltree.tokenizer import tokenize
from urltree.url_key import KeyScheme
from urltree.window import Eviction

EVERY = 10
HEURISTICS = [heuristic(name) for name in NAMES]
SINGLE: dict[str, Callable[[str], str | None]] = {
    "trafilatura": trafilatura.extract,
    "trafilatura, no comments": lambda html: trafilatura.extract(html, include_comments=False),
    "all text": lambda html: "\n".join(block.text for block in tokenize(html).blocks),
}

Scores = dict[str, list[tuple[float, float]]]  # by extractor: of each page, as is and with title

_ONE_CHARACTER = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])")


class _ToSpace(dict[int, str]):  # for `str.translate`, filled as characters are met
    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = " " if category(character)[0] in "PSC" else character
        return self[code]


_TO_SPACE = _ToSpace()


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return _ONE_CHARACTER.sub(r" \1 ", text.translate(_TO_SPACE).lower()).split()


def f1(gold: list[str], prediction: list[str]) -> float:
    """Of the longest common subsequence of words; 1 where both are empty."""
    total = len(gold) + len(prediction)
    return 2 * LCSseq.similarity(gold, prediction) / total if total else 1.0


def measure(_pages: Pages, _rounds: int) -> Section:
    """Score all extractors on the same pages; the given ones have no gold."""
    files = sorted(STREAMS.glob("*.jsonl.zst"))
    method = f"macro F1 over {len(files)} sites, word LCS; every {EVERY}th page, all learned"
    if not files:
        return Section("quality", f"skipped: no pages with gold at {STREAMS}", [])
    sites = [_score_site(str(file)) for file in files]
    figures = []
    for name in sites[0]:
        as_is, titled = (fmean(fmean(s[i] for s in site[name]) for site in sites) for i in (0, 1))
        note = f"title prepended {titled:.3f}; {sum(len(site[name]) for site in sites):,} documents"
        figures.append(Figure(name, as_is, "F1", note=note))
    return Section("quality", method, figures)


def _score_site(file: str) -> Scores:
    scores: Scores = defaultdict(list)
    for record, texts in _extracted(file):
        gold, title = words(record["gold"]), words(record["title"])
        for name, text in texts.items():
            said = words(text)
            titled = said if said[: len(title)] == title else title + said
            scores[name].append((f1(gold, said), f1(gold, titled)))
    return scores


def _extracted(file: str) -> Iterator[tuple[Mapping[str, Any], dict[str, str]]]:
    """Every 10th page that is no duplicate, with the text that each extractor finds."""
    scheme, seen = KeyScheme(), set[str]()
    learned: dict[str, LearnedDomain] = {}
    for number, record in enumerate(Reader().read([file])):
        assert isinstance(record, Mapping)  # noqa: S101 - the streams are well formed
        page, origin = check(record, f"quality/0/{number}")
        key = scheme.key(page.final_url or "", partial(getattr, page, "title"))
        if key.id in seen:
            continue
        seen.add(key.id)
        document = Document.of(page, key, tokenize(page.html), origin)
        domain = learned.setdefault(key.domain, LearnedDomain(HEURISTICS[0], Eviction()))
        domain.learn(document, None)
        if number % EVERY == 0:
            found = {name: find(record["html"]) or "" for name, find in SINGLE.items()}
            yield record, dict(_judged(document, domain)) | found


def _judged(document: Document, domain: LearnedDomain) -> Iterator[tuple[str, str]]:
    """What each heuristic keeps of a document in its domain's tree."""
    leaf = domain.tree.leaf(document.key_bytes)
    for each in HEURISTICS:
        verdicts = each.judge(document.blocks, leaf).boilerplate
        kept = zip(document.blocks, verdicts, strict=True)
        yield each.name, "\n".join(block.text for block, dropped in kept if not dropped)
