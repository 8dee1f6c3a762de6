"""Fit NCE's constants on a corpus, and write them to a file: `python -m bench.nce_constants FILE`.

    FILE ─▶ pages, parsed once ─▶ the best value of one constant after another ─▶ constants.json
                                  until no change is better

The paper names "a simple optimization procedure" and "a local search". This program does coordinate
descent over VALUES, and begins at START. It maximises the mean over sites of the paper's own
measure, F1 of bags of words. Several values may give an F1 that is at most NEAR below the best. Of
these values, the one nearest to the current value is chosen, so that a constant is not tuned to a
single page.

The F1 on the pages used for the fit says little about other pages. Therefore the search is repeated
five times. Each time, a fifth of the sites is left out of the fit and then measured.

    python -m bench.nce_constants ../shared/data/pages/magic-html-article.jsonl.zst

This corpus was chosen because it has 157 pages of 96 sites (the paper's corpus had 141 pages). The
only other small corpus with gold made by hand, cleanportaleval, has four sites. Streams, and
corpora whose gold a tool produced, are not used.

Some constants cannot be fitted on this corpus and keep their values in START. The gold has no
titles, so two constants are not fitted: a title has at most 25 words, and half of them must occur
in the body. Few pages have comments, so the corpus shows what phase 2 wrongly removes, but not what
phase 2 gains. Therefore two more constants are not fitted: a head has at most 80 characters, and
the ids of two heads differ by at most 40, because a comment in WordPress's own markup takes 20 to
30 ids.
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
    child_links=0.4,  # value of the paper
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
NEAR = 0.001  # largest difference of F1 that is treated as no difference
FOLDS = 5
WRITTEN = "constants.json"


class SiblingPage(NamedTuple):
    """A parsed page with the words of its gold.

    Attributes:
        tree: the parsed page.
        gold: number of occurrences of each word in the gold.
        known: score of each text that was extracted. It is a cache, because most changes of a
            constant change the text of few pages.
    """

    tree: PageTree
    gold: Counter[str]
    known: dict[str, PRF]


SiblingPages = dict[str, list[SiblingPage]]


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the constants without writing the file.")
def main(*, file: Path, dry_run: bool) -> None:
    """Fit NCE's constants on FILE, a corpus that `urltree evaluate convert` reads."""
    corpus, sites = read_file(file)
    click.echo(f"{corpus}: {sum(map(len, sites.values()))} pages, {len(sites)} sites")
    fitted = fit_constants(sites)
    text = json.dumps({"corpus": corpus, "constants": asdict(fitted)}, indent=1) + "\n"
    click.echo(text, nl=False)
    if not dry_run:
        Path(str(files(nce) / WRITTEN)).write_text(text, encoding="utf-8")
    for line in report_lines(sites, fitted):
        click.echo(line)


def read_file(file: Path) -> tuple[str, SiblingPages]:
    """Return the name of the corpus, and its pages with gold by site."""
    sites: SiblingPages = defaultdict(list)
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        (corpus,) = convert([file], workspace)
        for part in corpus.parts:
            for page in workspace.pages(corpus.name, part):
                if page.gold:
                    gold = Counter(split_words(page.gold))
                    sites[page.domain].append(SiblingPage(parse_page(page.html), gold, {}))
    return corpus.name, dict(sites)


def fit_constants(sites: SiblingPages) -> Constants:
    """Return the best constants that a search finds by changing one constant at a time."""
    best, value, before = START, mean_scores(sites, START).f1, 0.0
    while value > before:
        before = value
        for name, values in VALUES.items():
            tried = {
                other: mean_scores(sites, replace(best, **{name: other})).f1  # type: ignore[arg-type]
                for other in values
            }
            now: float = getattr(best, name)
            good = [other for other in values if tried[other] > max(tried.values()) - NEAR]
            chosen = min(good, key=lambda other, now=now: abs(other - now))  # type: ignore[misc]
            if tried[chosen] > value:
                best, value = replace(best, **{name: chosen}), tried[chosen]  # type: ignore[arg-type]
    return best


def mean_scores(sites: SiblingPages, constants: Constants) -> PRF:
    """Return the mean over sites of each site's mean score by bags of words."""
    return _mean(_mean(_score(page, constants) for page in pages) for pages in sites.values())


def report_lines(sites: SiblingPages, fitted: Constants) -> Iterator[str]:
    """Yield lines with scores of the constants, on fitted sites and on sites left out of a fit."""
    yield _line("start of the search", mean_scores(sites, START))
    yield _line("fitted", mean_scores(sites, fitted))
    yield _line("fitted, with comments kept", mean_scores(sites, replace(fitted, head=-1)))
    held_out = []
    for fold in range(FOLDS):
        left_out = sorted(sites)[fold::FOLDS]
        constants = fit_constants(
            {name: pages for name, pages in sites.items() if name not in left_out}
        )
        held_out += [mean_scores({site: sites[site]}, constants) for site in left_out]
        yield f"  without fold {fold + 1}: {asdict(constants)}"
    yield _line("each site, with the constants of the other four fifths", _mean(held_out))


def _score(page: SiblingPage, constants: Constants) -> PRF:
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
