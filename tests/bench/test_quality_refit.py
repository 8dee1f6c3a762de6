"""Row 5's script: it fits on the sites that it is given, and on no others."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import orjson
import pytest
import zstandard

import urltree
from bench.quality.refit.fitting import RULES, Effects, Fit, Fitted, Rule, effects, fit
from bench.quality.refit.halves import HALVINGS, answer, halvings
from bench.quality.refit.setting import Setting, Word, all_words, grid, start
from bench.quality.refit.site import site
from urltree.heuristics.evidence.parameters import Parameters
from urltree_evaluation.metrics.sequences import compare
from urltree_evaluation.metrics.words import split_words
from urltree_evaluation.workspace import SUFFIX

PAGES = 5
FOOTER = "The people of {} keep all of their rights and say so below each of the pages here"


def page(number: int, name_of_class: str) -> dict[str, str]:
    """A page whose text and footer are alike but for the footer's class."""
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
    """A stream of such pages."""
    file = folder / (name_of_class + SUFFIX)
    pages = [page(number, name_of_class) for number in range(PAGES)]
    file.write_bytes(zstandard.compress(b"\n".join(map(orjson.dumps, pages))))
    return file


def kept(fitted: Fitted) -> set[Word]:
    """The words that stayed."""
    return set(all_words()) - fitted.setting.removed


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two sites: one needs the word "colophon", the other "copyright"."""
    folder = tmp_path_factory.mktemp("streams")
    return stream(folder, "colophon"), stream(folder, "copyright")


@pytest.fixture(scope="module")
def known(files: tuple[Path, Path]) -> Effects:
    """What each move does on each site."""
    return dict(effects((file, PAGES)) for file in files)


def test_each_half_is_fitted_on_and_seen_once_a_halving() -> None:
    """And the halvings differ, but not from run to run."""
    sites = [Path(chr(97 + number)) for number in range(22)]
    found = halvings(sites)
    assert len(found) == 2 * HALVINGS
    assert all(len(seen) == len(unseen) == 11 for seen, unseen in found)
    assert all({*seen, *unseen} == {*sites} for seen, unseen in found)
    assert all(one == other[::-1] for one, other in zip(found[::2], found[1::2], strict=True))
    assert len({frozenset(seen) for seen, _ in found}) == 2 * HALVINGS
    assert found == halvings(sites[::-1])


def test_a_site_is_judged_as_the_library_judges(tmp_path: Path) -> None:
    """With the default numbers and all words; the footer of this one has a name that says none."""
    pages = [page(number, "lower") for number in range(PAGES)]
    said = [each.text or "" for each in urltree.extract(pages, heuristic="evidence")]
    expected = [
        compare(split_words(each["gold"]), split_words(text)).f1
        for each, text in zip(pages, said, strict=True)
    ]
    assert max(expected) < 1
    assert site(stream(tmp_path, "lower"), PAGES).f1(Setting(Parameters())) == fmean(expected)


def test_a_site_is_worse_without_the_word_that_it_needs(files: tuple[Path, Path]) -> None:
    """And as good without one that it does not have."""
    first, default = site(files[0], PAGES), Setting(Parameters())
    assert first.f1(default) == 1
    assert first.f1(default.without([Word("strong", "copyright")])) == 1
    assert first.f1(default.without([Word("strong", "colophon")])) < 1
    assert first.has(Word("strong", "colophon"))
    assert not first.has(Word("strong", "copyright"))


@pytest.mark.parametrize("rule", RULES)
def test_a_fit_keeps_the_words_that_its_sites_need(
    files: tuple[Path, Path], known: Effects, rule: Rule
) -> None:
    """A word that only the unseen site has goes, and is missed there: that is the measure."""
    seen, unseen = files
    (half,) = (f for f in fit(Fit((1, 1), (seen,), (unseen,), known, PAGES)) if f.rule == rule)
    (whole,) = (f for f in fit(Fit(None, files, (), known, PAGES)) if f.rule == rule)
    assert kept(half) == {Word("strong", "colophon")}
    assert kept(whole) == {Word("strong", "colophon"), Word("strong", "copyright")}
    assert half.f1[seen] == whole.f1[seen] == whole.f1[unseen] == 1
    assert half.f1[unseen] < 1


def test_of_words_that_say_the_same_one_is_needed(tmp_path: Path) -> None:
    """And both are seen."""
    file = stream(tmp_path, "colophon-copyright")
    needed, seen = fit(Fit(None, (file,), (), dict([effects((file, PAGES))]), PAGES))
    assert kept(needed) == {Word("strong", "copyright")}
    assert kept(seen) == {Word("strong", "colophon"), Word("strong", "copyright")}


def test_the_difference_is_that_on_the_unseen_sites() -> None:
    """What the fit is worth on its own sites counts nowhere."""
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
    found = answer(fits, {None: (), (1, 1): (b,), (1, 2): (a,)}, PAGES)
    shown = {figure.name: (round(figure.value, 9), figure.note) for figure in found.figures}
    assert shown["seen: unseen minus that"] == (-0.06, "")
    assert shown["seen: worst halving"] == (-0.1, "1, half 1")
    assert shown["seen: worst site"] == (-0.1, "b, 1, half 1")


def test_a_grid_is_around_the_default_and_stays_sensible() -> None:
    """Whole numbers are whole and at least 1, shares stay shares."""
    for name, default in Parameters()._asdict().items():
        values = grid(name)
        assert default in values
        assert min(values) < default < max(values)
        assert all(type(value) is type(default) for value in values)
        assert all((value < 1) == (default < 1) for value in values)


def test_a_fit_begins_beside_the_defaults() -> None:
    """Which were chosen on all sites: no number begins at its own."""
    begun, defaults = start().numbers._asdict(), Parameters()._asdict()
    assert start() == start()
    assert [name for name in begun if begun[name] == defaults[name]] == []
