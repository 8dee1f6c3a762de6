"""Tests of `bench.quality.refit`: a fit uses only its own sites, and is judged on unseen ones."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import orjson
import pytest
import zstandard

import urltree
from bench.quality.refit.fitting import (
    RULES,
    Effects,
    Fit,
    Fitted,
    SelectionRule,
    effects,
    fit_half,
)
from bench.quality.refit.halves import HALVINGS, halvings, summarise_fits
from bench.quality.refit.setting import ListedWord, Setting, all_words, start, values_to_try
from bench.quality.refit.site import load_site
from urltree.heuristics.evidence.parameters import Parameters
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import SUFFIX

PAGES = 5
FOOTER = "The people of {} keep all of their rights and say so below each of the pages here"


def page(number: int, name_of_class: str) -> dict[str, str]:
    """Return a page with a text and a footer; only the footer's class distinguishes the two."""
    name = chr(97 + number) * 4
    text = [f"What {name} says in part {part} is said nowhere else on it." for part in "abc"]
    body = "".join(f"<p>{each}</p>" for each in text)
    return {
        "url": f"https://example.org/{name}",
        "published": f"2026-01-{number + 1:02}T00:00:00Z",
        "title": f"Story {name}",
        "html": f"<body><h1>Story {name}</h1><div>{body}"
        f"<p class={name_of_class}>{FOOTER.format(name)}</p></div>",
        "gold": "\n".join([f"Story {name}", *text]),
    }


def stream(folder: Path, name_of_class: str) -> Path:
    """Write a stream of pages made by `page`, and return the stream's file."""
    file = folder / (name_of_class + SUFFIX)
    pages = [page(number, name_of_class) for number in range(PAGES)]
    file.write_bytes(zstandard.compress(b"\n".join(map(orjson.dumps, pages))))
    return file


def kept(fitted: Fitted) -> set[ListedWord]:
    """Return the words that the fit has not removed."""
    return set(all_words()) - fitted.setting.removed


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write two sites: one needs the word "colophon", the other needs "copyright"."""
    folder = tmp_path_factory.mktemp("streams")
    return stream(folder, "colophon"), stream(folder, "copyright")


@pytest.fixture(scope="module")
def known(files: tuple[Path, Path]) -> Effects:
    """Return the F1 of each site with each value of each number, as a fit gets them."""
    return dict(effects((file, PAGES)) for file in files)


def test_each_half_is_fitted_on_and_seen_once_a_halving() -> None:
    """The sites are halved several times, and each half is used once for a fit and once as unseen.

    The halvings differ from each other, but are the same in each run.
    """
    sites = [Path(chr(97 + number)) for number in range(22)]
    found = halvings(sites)
    assert len(found) == 2 * HALVINGS
    assert all(len(seen) == len(unseen) == 11 for seen, unseen in found)
    assert all({*seen, *unseen} == {*sites} for seen, unseen in found)
    assert all(one == other[::-1] for one, other in zip(found[::2], found[1::2], strict=True))
    assert len({frozenset(seen) for seen, _ in found}) == 2 * HALVINGS
    assert found == halvings(sites[::-1])


def test_a_site_is_judged_as_the_library_judges(tmp_path: Path) -> None:
    """With default numbers and all words, a site's F1 equals that of the library's texts.

    The class of the footer here is not in any word list.
    """
    pages = [page(number, "lower") for number in range(PAGES)]
    said = [each.text or "" for each in urltree.extract(pages, heuristic="evidence")]
    expected = [
        compare(split_words(each["gold"]), split_words(text)).f1
        for each, text in zip(pages, said, strict=True)
    ]
    assert max(expected) < 1
    assert load_site(stream(tmp_path, "lower"), PAGES).f1(Setting(Parameters())) == fmean(expected)


def test_a_site_is_worse_without_the_word_that_it_needs(files: tuple[Path, Path]) -> None:
    """Without the word that a site needs, its F1 falls.

    A word that the site does not have makes no difference.
    """
    first, default = load_site(files[0], PAGES), Setting(Parameters())
    assert first.f1(default) == 1
    assert first.f1(default.without([ListedWord("strong", "copyright")])) == 1
    assert first.f1(default.without([ListedWord("strong", "colophon")])) < 1
    assert first.has(ListedWord("strong", "colophon"))
    assert not first.has(ListedWord("strong", "copyright"))


@pytest.mark.parametrize("rule", RULES)
def test_a_fit_keeps_the_words_that_its_sites_need(
    files: tuple[Path, Path], known: Effects, rule: SelectionRule
) -> None:
    """A fit removes a word that only an unseen site needs, and the unseen site's F1 falls.

    Section 5 of the quality report measures this loss.
    """
    seen, unseen = files
    (half,) = (f for f in fit_half(Fit((1, 1), (seen,), (unseen,), known, PAGES)) if f.rule == rule)
    (whole,) = (f for f in fit_half(Fit(None, files, (), known, PAGES)) if f.rule == rule)
    assert kept(half) == {ListedWord("strong", "colophon")}
    assert kept(whole) == {ListedWord("strong", "colophon"), ListedWord("strong", "copyright")}
    assert half.f1[seen] == whole.f1[seen] == whole.f1[unseen] == 1
    assert half.f1[unseen] < 1


def test_one_of_several_words_with_the_same_effect_is_needed(tmp_path: Path) -> None:
    """The rule `needed` keeps one of two words with the same effect; `seen` keeps both words."""
    file = stream(tmp_path, "colophon-copyright")
    needed, seen = fit_half(Fit(None, (file,), (), dict([effects((file, PAGES))]), PAGES))
    assert kept(needed) == {ListedWord("strong", "copyright")}
    assert kept(seen) == {ListedWord("strong", "colophon"), ListedWord("strong", "copyright")}


def test_the_difference_is_measured_on_unseen_sites() -> None:
    """The difference is measured on the unseen sites of each fit, not on the sites of the fit."""
    a, b = Path("a" + SUFFIX), Path("b" + SUFFIX)
    fits = [
        fitted
        for rule in RULES
        for fitted in (
            Fitted((1, 2), rule, start(), {a: 0.88, b: 1.0}),
            Fitted(None, rule, start(), {a: 0.9, b: 0.8}),
            Fitted((1, 1), rule, start(), {a: 1.0, b: 0.7}),
        )
    ]
    found = summarise_fits(fits, {None: (), (1, 1): (b,), (1, 2): (a,)}, PAGES)
    shown = {figure.name: (round(figure.value, 9), figure.note) for figure in found.figures}
    assert shown["seen: unseen minus fitted on all"] == (-0.06, "")
    assert shown["seen: worst halving"] == (-0.1, "1, half 1")
    assert shown["seen: worst site"] == (-0.1, "b, 1, half 1")


def test_a_grid_is_around_the_default_and_stays_sensible() -> None:
    """The values to try include the default and lie around it.

    A number keeps its type. Values of shares are below 1, and values of counts are at least 1.
    """
    for name, default in Parameters()._asdict().items():
        values = values_to_try(name)
        assert default in values
        assert min(values) < default < max(values)
        assert all(type(value) is type(default) for value in values)
        assert all((value < 1) == (default < 1) for value in values)


def test_a_fit_begins_beside_the_defaults() -> None:
    """A fit does not start at the defaults, because these were chosen on all sites."""
    begun, defaults = start().numbers._asdict(), Parameters()._asdict()
    assert start() == start()
    assert [name for name in begun if begun[name] == defaults[name]] == []
