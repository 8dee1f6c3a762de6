"""`python -m bench.nce_constants FILE`: fit NCE's constants on a corpus, and write them down.

    FILE ─▶ pages, parsed once ─▶ one constant after another at its best ─▶ constants.json
                                  until none is better

The paper says "a simple optimization procedure" and "a local search". Here it is coordinate descent
over VALUES, from START; what it maximises is the paper's own measure, F1 of bags of words, as the
mean of sites. Of values as good as the best but for NEAR, the nearest to the one before is taken:
constants shall not follow one page.

What is fitted says little of other pages, so the search is repeated without each fifth of the
sites in turn, and that fifth measured with what the others give.

    python -m bench.nce_constants ../shared/data/pages/magic-html-article.jsonl.zst

Why that corpus: it has 157 pages of 96 sites (the paper's had 141 pages). The only other small one
with gold by hand, cleanportaleval, has four sites; no stream and no tool's output may be used.

What it cannot say stays as in START. Its gold has no titles: 25 words, of which the body has half.
Hardly a page has comments, so that it knows what phase 2 costs and not what it gains: a head of 80
characters, and 40 ids from one to the next, for a comment in WordPress's own markup takes 20 to 30.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from urltree_evaluation.converting import convert
from urltree_evaluation.extractors import nce
from urltree_evaluation.extractors.nce.constants import Constants
from urltree_evaluation.extractors.nce.page import PageTree, parse_page
from urltree_evaluation.metrics import bag
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.score import PRF
from urltree_evaluation.workspace import Workspace

START = Constants(
    leaf=60,
    separator=500,
    notable=100,
    sibling_links=0.5,
    child_links=0.4,  # the paper's
    head=80,
    distance=40,
    title_most=25,
    title_shared=0.5,
)
VALUES: dict[str, Sequence[float]] = {
    "leaf": (40, 60, 80, 100, 120, 150, 200, 300),
    "separator": (200, 300, 500, 700, 1_000, 2_000),
    "notable": (20, 50, 100, 200, 300, 500),
    "sibling_links": (0.1, 0.2, 0.3, 0.5, 0.7),
    "child_links": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
}
NEAR = 0.001  # of F1
FOLDS = 5
WRITTEN = "constants.json"


class Page(NamedTuple):
    """A page, parsed, with the words that should come out.

    Attributes:
        known: what each text is worth: most constants change few pages.
    """

    tree: PageTree
    gold: Counter[str]
    known: dict[str, PRF]


Sites = dict[str, list[Page]]


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the constants; write nothing.")
def main(*, file: Path, dry_run: bool) -> None:
    """Fit NCE's constants on FILE, a corpus that `urltree evaluate convert` reads."""
    corpus, sites = read(file)
    click.echo(f"{corpus}: {sum(map(len, sites.values()))} pages, {len(sites)} sites")
    fitted = fit(sites)
    text = json.dumps({"corpus": corpus, "constants": asdict(fitted)}, indent=1) + "\n"
    click.echo(text, nl=False)
    if not dry_run:
        Path(str(files(nce) / WRITTEN)).write_text(text, encoding="utf-8")
    for line in report(sites, fitted):
        click.echo(line)


def read(file: Path) -> tuple[str, Sites]:
    """The corpus' name, and its pages with full gold by site."""
    sites: Sites = defaultdict(list)
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        (corpus,) = convert([file], workspace)
        for part in corpus.parts:
            for page in workspace.pages(corpus.name, part):
                if page.gold:
                    gold = Counter(split_words(page.gold))
                    sites[page.domain].append(Page(parse_page(page.html), gold, {}))
    return corpus.name, dict(sites)


def fit(sites: Sites) -> Constants:
    """The best constants that changing one at a time finds."""
    best, value, before = START, figures(sites, START).f1, 0.0
    while value > before:
        before = value
        for name, values in VALUES.items():
            tried = {
                other: figures(sites, replace(best, **{name: other})).f1  # type: ignore[arg-type]
                for other in values
            }
            now: float = getattr(best, name)
            good = [other for other in values if tried[other] > max(tried.values()) - NEAR]
            chosen = min(good, key=lambda other, now=now: abs(other - now))  # type: ignore[misc]
            if tried[chosen] > value:
                best, value = replace(best, **{name: chosen}), tried[chosen]  # type: ignore[arg-type]
    return best


def figures(sites: Sites, constants: Constants) -> PRF:
    """Bags of words: mean of each site's pages, then of the sites."""
    return _mean(_mean(_score(page, constants) for page in pages) for pages in sites.values())


def report(sites: Sites, fitted: Constants) -> Iterator[str]:
    """What the constants are worth here, and where they were not fitted."""
    yield _line("from where the search begins", figures(sites, START))
    yield _line("fitted", figures(sites, fitted))
    yield _line("fitted, comments left in", figures(sites, replace(fitted, head=-1)))
    held_out = []
    for fold in range(FOLDS):
        left_out = sorted(sites)[fold::FOLDS]
        constants = fit({name: pages for name, pages in sites.items() if name not in left_out})
        held_out += [figures({site: sites[site]}, constants) for site in left_out]
        yield f"  without fold {fold + 1}: {asdict(constants)}"
    yield _line("each site with what the other four fifths give", _mean(held_out))


def _score(page: Page, constants: Constants) -> PRF:
    text = nce.extract_news(page.tree, constants)
    if text not in page.known:
        page.known[text] = bag.compare(page.gold, Counter(split_words(text)))
    return page.known[text]


def _mean(values: Iterator[PRF] | Sequence[PRF]) -> PRF:
    precisions, recalls, f1s = zip(*values, strict=True)
    return PRF(fmean(precisions), fmean(recalls), fmean(f1s))


def _line(what: str, value: PRF) -> str:
    return f"P {value.precision:.3f}  R {value.recall:.3f}  F1 {value.f1:.3f}  {what}"


if __name__ == "__main__":
    main()
