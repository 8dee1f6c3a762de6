"""Make the tables of docs/claims.md as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.claims.variants import EVICTED, EVICTIONS, TWO_PASSES, N, SiteF1

NUMBERS = (1, 5, 10, 20, 50, 100, 200, 500, 1_000)
TUNED_ON = 3  # N is chosen on the first third of each site; the paper used 12 % of its stream
_PAPER = {  # F1 after all test documents (paper, section 5.5, figure 5)
    "strict": ".85",
    "strict-support": ".86",
    "strict-support-100": ".86",
    "strict-at-domain": ".86",
    "relaxed-at-domain": ".89",
    "relaxed-at-domain-500": ".89",
}
_RESAMPLES = 10_000


def format_f1(value: float) -> str:
    """Format an F1 as papers print it: .872."""
    return f"{value:.3f}".removeprefix("0")


def learning_table(sites: Sequence[SiteF1]) -> str:
    """Return a table of F1 at document n of a site.

    The table has the F1 of documents n/2 to n, each judged when it came; the F1 of the same
    documents, judged when all pages of the site are known; and the mean F1 of all documents up to
    n, each judged when it came.
    """
    rows = []
    for number in NUMBERS:
        long = [site for site in sites if site.f1.shape[1] >= number]
        if not long:
            break
        recent = slice(number // 2, number)
        came, known = (
            np.mean([f1_of(site, name)[recent].mean() for site in long])
            for name in ("strict", TWO_PASSES)
        )
        average = np.mean([f1_of(site, "strict")[:number].mean() for site in long])
        rows.append([f"{number:,}", str(len(long)), *map(format_f1, (came, known, average))])
    header = [
        "document",
        "sites",
        "as they came",
        "the same pages, judged by all",
        "average so far",
    ]
    return _markdown(header, rows)


def sites_above_table(sites: Sequence[SiteF1]) -> str:
    """Return a table of the number of sites above each of the paper's F1 limits (figure 4)."""
    values = np.array([f1_of(site, "strict").mean() for site in sites])
    rows = [
        [f"> {format_f1(mark)}", paper, f"{(values > mark).sum()} of {len(values)}"]
        for mark, paper in ((0.7, "all"), (0.84, "three quarters"), (0.9, "more than a third"))
    ]
    return _markdown(["F1 of a site", "paper, 33 sites", "here"], rows)


def heuristics_table(sites: Sequence[SiteF1]) -> str:
    """Return a table of the heuristics.

    One N for all sites is chosen on the first third of each site. The table has the F1 of the first
    thirds and of the rest.
    """
    rows = []
    strict = _macro(sites, "strict", rest=True)
    for family, paper in _PAPER.items():
        names = [family] if family in sites[0].variants else [f"{family}-{n}" for n in N]
        best = max(names, key=lambda name: _macro(sites, name, rest=False).mean())
        values = _macro(sites, best, rest=True)
        rows.append(
            [
                f"`{best}`" + (", N chosen" if len(names) > 1 else ""),
                format_f1(_macro(sites, best, rest=False).mean()),
                format_f1(values.mean()),
                _difference(values - strict) if best != "strict" else "",
                paper,
            ]
        )
    header = ["heuristic", "first third", "the rest", "minus `strict`", "paper"]
    return _markdown(header, rows)


def windows_table(sites: Sequence[SiteF1]) -> str:
    """Return a table of the F1 with each window, and of the difference to F1 without eviction."""
    rows = []
    kept = {name: _macro(sites, name) for name in EVICTED}
    rows.append(["all", *(text for name in EVICTED for text in (format_f1(kept[name].mean()), ""))])
    for window in EVICTIONS:
        row = [window]
        for name in EVICTED:
            values = _macro(sites, f"{name}, {window}")
            row += [format_f1(values.mean()), _difference(values - kept[name])]
        rows.append(row)
    header = ["window", *(text for name in EVICTED for text in (f"`{name}`", "minus all"))]
    return _markdown(header, rows)


def f1_of(site: SiteF1, variant: str) -> NDArray[np.float32]:
    """Return the F1 of each page of a site with a variant."""
    row: NDArray[np.float32] = site.f1[site.variants.index(variant)]
    return row


def _macro(
    sites: Iterable[SiteF1], variant: str, *, rest: bool | None = None
) -> NDArray[np.float64]:
    """Return the mean F1 of each site.

    It is the mean of the pages after the first third if `rest` is true, of the first third if
    `rest` is false, and of all pages if `rest` is None.
    """
    means = []
    for site in sites:
        values = f1_of(site, variant)
        cut = len(values) // TUNED_ON
        chosen = values if rest is None else values[cut:] if rest else values[:cut]
        means.append(float(chosen.mean()))
    return np.array(means)


def _difference(by_site: NDArray[np.float64]) -> str:
    """Format the mean difference with its 95 % interval, which is computed by resampling sites."""
    random = np.random.default_rng(1)
    drawn = random.integers(len(by_site), size=(_RESAMPLES, len(by_site)))
    low, high = np.percentile(by_site[drawn].mean(axis=1), [2.5, 97.5])
    middle, low, high = (f"{round(value, 3) + 0.0:+.3f}" for value in (by_site.mean(), low, high))
    return f"{middle} ({low} … {high})"


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
