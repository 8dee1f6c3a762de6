"""The bootstrap, compared with plain Python code that draws domains and pages one by one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from statistics import fmean, quantiles

import numpy as np
import pytest

from tests.urltree_evaluation.scored import CORPUS, page, pages, workspace
from urltree_evaluation.statistics.bootstrap import (
    Estimate,
    differences_to,
    draw_resamples,
    macro_estimates,
    micro_estimates,
    pairwise_differences,
    success_estimates,
)
from urltree_evaluation.statistics.table import ScoreTable, load_table

X = {"a/1": 0.1, "a/2": 0.9, "a/3": 0.5, "b/1": 0.3, "c/1": 0.8, "c/2": 0.6, "d/1": 1.0}
Y = {name: value * 0.5 for name, value in X.items()}


def table(path: Path, **scores: dict[str, float]) -> ScoreTable:
    """Return a table of extractors; each value of `scores` maps ids of pages to F1."""
    return load_table(
        workspace(path, {name: pages(given) for name, given in scores.items()}), CORPUS
    )


def drawn_one_by_one(values: dict[str, float], resamples: int) -> tuple[list[float], list[float]]:
    """Return macro and micro F1 of each resample, by drawing domains and then their pages."""
    sites: dict[str, list[float]] = {}
    for name, value in values.items():
        sites.setdefault(name[0], []).append(value)
    chance, macro, micro = random.Random(5), list[float](), list[float]()
    for _ in range(resamples):
        domains = chance.choices(list(sites.values()), k=len(sites))
        drawn = [chance.choices(domain, k=len(domain)) for domain in domains]
        macro.append(fmean(map(fmean, drawn)))
        micro.append(fmean(value for domain in drawn for value in domain))
    return macro, micro


def middle(samples: list[float]) -> list[float]:
    """Return the interval that contains 95 % of the samples."""
    return [quantiles(samples, n=40)[at] for at in (0, -1)]


def test_intervals_are_those_of_drawing_one_by_one(tmp_path: Path) -> None:
    """The intervals equal those of drawing pages one by one.

    Random differences are smaller than .01 here.
    """
    macro, micro = drawn_one_by_one(X, 20_000)
    made = table(tmp_path, x=X)
    of_macro = macro_estimates(made, resamples=20_000)["x"]
    of_micro = micro_estimates(made, resamples=20_000)["x"]
    assert [of_macro.low, of_macro.high] == pytest.approx(middle(macro), abs=0.01)
    assert [of_micro.low, of_micro.high] == pytest.approx(middle(micro), abs=0.01)


def test_figures_are_the_tables_and_not_the_resamples_mean(tmp_path: Path) -> None:
    """The bootstrap adds an interval to a figure and does not change its value."""
    made = table(tmp_path, x=X, y=Y)
    assert {name: figure.value for name, figure in macro_estimates(made).items()} == made.macro()
    assert {name: figure.value for name, figure in micro_estimates(made).items()} == made.micro()


def test_as_many_pages_are_drawn_of_a_domain_as_it_has_each_time(tmp_path: Path) -> None:
    """Each resample draws as many domains as there are.

    From each drawn domain, it draws as many pages as the domain has.
    """
    made = table(tmp_path, x=X)
    for resample in draw_resamples(made, resamples=50):
        of_domain = Counter[str]()
        for domain, times in zip(made.domains, resample.tolist(), strict=True):
            of_domain[domain] += times
        times_drawn = [of_domain[d] / s for d, s in Counter(made.domains).items()]
        assert sum(times_drawn) == 4
        assert all(times.is_integer() for times in times_drawn)


def test_equal_extractors_differ_by_nothing_in_every_resample(tmp_path: Path) -> None:
    """Equal extractors have a difference of 0 in every resample.

    Differences are paired, because all extractors share the resamples.
    """
    made = table(tmp_path, x=X, y=X)
    assert differences_to(made, to="x") == {"y": Estimate(0, 0, 0)}


def test_a_constant_gap_has_no_uncertainty_however_wide_the_figures_are(tmp_path: Path) -> None:
    """A constant difference has an interval without width, even if the figures have wide intervals.

    Pairing removes the variation that both extractors share.
    """
    lower = {name: value - 0.05 for name, value in X.items()}
    made = table(tmp_path, x=X, y=lower)
    assert macro_estimates(made)["x"].half_width > 0.1
    assert differences_to(made)["y"] == pytest.approx((-0.05, -0.05, -0.05))


def test_differences_are_to_the_best_where_none_is_named(tmp_path: Path) -> None:
    """By default, each extractor is compared with the best one, so no difference is above zero."""
    gaps = differences_to(table(tmp_path, y=Y, x=X))
    assert list(gaps) == ["y"]
    assert gaps["y"].value == pytest.approx(-fmean([0.5, 0.3, 0.7, 1.0]) / 2)
    assert gaps["y"].high < 0


def test_pairs_are_all_differences_the_better_one_first(tmp_path: Path) -> None:
    """Each pair of extractors has a difference, and the better extractor is first in the pair.

    Each difference equals that of `differences_to` for these two extractors.
    """
    z = {name: 1 - value for name, value in X.items()}
    made = table(tmp_path, y=Y, x=X, z=z)
    found = pairwise_differences(made)
    assert list(found) == [("x", "z"), ("x", "y"), ("z", "y")]
    assert found["z", "y"] == pytest.approx(differences_to(made, to="y")["z"])


def test_the_same_seed_gives_the_same_figures(tmp_path: Path) -> None:
    """The same seed gives the same figures, so a report is reproducible."""
    made = table(tmp_path, x=X)
    assert macro_estimates(made, seed=7) == macro_estimates(made, seed=7)
    assert macro_estimates(made, seed=7) != macro_estimates(made, seed=8)


def test_successes_are_resampled_without_the_boundary_cases(tmp_path: Path) -> None:
    """The mean of successes ignores failures.

    If all successes are equal, its interval has no width.
    """
    scores = [page(f"{n}/1", 0.7) for n in range(9)] + [page("z/1", 0.0, boundary="memory")]
    made = load_table(workspace(tmp_path, {"x": scores}), CORPUS)
    assert success_estimates(made)["x"] == pytest.approx((0.7, 0.7, 0.7))
    assert macro_estimates(made)["x"].low < 0.6


def test_a_table_without_pages_has_figures_that_are_no_numbers(tmp_path: Path) -> None:
    """A table without pages has NaN as its figures and raises no error."""
    made = load_table(workspace(tmp_path, {"x": [page("a/1")]}), CORPUS)
    for each in (macro_estimates, micro_estimates, success_estimates):
        assert np.isnan(each(made)["x"]).all()
