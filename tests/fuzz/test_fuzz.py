"""A short run of every fuzz target, and all inputs that once failed; `make fuzz` runs more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import TARGETS, Tally, fuzz, make_quiet, run
from tests.fuzz.growth import FAMILIES, Family, growth_of
from tests.fuzz.target import Target

REGRESSIONS = sorted((Path(__file__).parent / "regressions").iterdir())
INPUTS = 1_500
THOROUGH_INPUTS = 20_000


def failures(target: Target, seed: int, number: int) -> list[str]:
    """Return the failures of the first inputs of a target."""
    tally = Tally()
    for _ in fuzz(target, seed, range(number), tally):
        pass
    assert tally.inputs == number
    return [str(failure) for failure in tally.failures.values()]


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_causes_an_unexpected_error(name: str) -> None:
    """Damaged bytes cause the errors that the docstrings declare, and no others."""
    assert not failures(TARGETS[name], 1, INPUTS)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TARGETS)
def test_no_input_of_many_causes_an_unexpected_error(name: str) -> None:
    """The same with more inputs and another seed."""
    assert not failures(TARGETS[name], 2, THOROUGH_INPUTS)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.name)
def test_an_input_that_failed_once_passes(path: Path) -> None:
    """The name of a saved input begins with the name of its target."""
    TARGETS[path.name.partition("--")[0]].run(path.read_bytes())


def test_the_links_of_a_page_take_linear_time() -> None:
    """A tag of 4,000 letters once took 150 ms, and a page of 256 KB would have taken 10 s."""
    growth = growth_of(next(one for one in FAMILIES if one.name == "letters in a link"))
    assert not growth.is_too_fast, growth


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: f"{one.target}-{one.name}")
def test_time_grows_no_faster_than_size(family: Family) -> None:
    """Hostile inputs take a time that is almost linear in their size. Only CPU time counts."""
    growth = growth_of(family)
    assert not growth.is_too_fast, growth


def a_target(check: Callable[[bytes], None]) -> Target:
    """Return a target with one seed."""
    return Target("seen", check, (ValueError,), (b"abc",))


def test_an_unexpected_error_is_a_failure_and_an_expected_one_is_not() -> None:
    """Each failure is reported once, with the numbers that replay it."""

    def check(data: bytes) -> None:
        if len(data) > 3:
            raise KeyError(len(data))
        raise ValueError(len(data))

    found = failures(a_target(check), 7, 50)
    assert len(found) == 1
    assert found[0].startswith("seen:7:")
    assert "KeyError" in found[0]


def test_quadratic_time_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measurement of growth finds a function that takes quadratic time."""

    def check(data: bytes) -> None:
        for _ in data:
            data.count(b"x")

    monkeypatch.setitem(TARGETS, "seen", a_target(check))
    assert growth_of(Family("seen", "quadratic", lambda n: b"a" * 20 * n)).is_too_fast


def test_two_processes_share_the_inputs() -> None:
    """All inputs are run, and no index twice."""
    tallies = run(["seen-items", "origins"], 2_000, 1, 2)
    assert sum(tally.inputs for tally in tallies.values()) == 2_000
    assert not any(tally.failures for tally in tallies.values())


@pytest.fixture(autouse=True, scope="module")
def quiet() -> None:
    """Silence the parsers' warnings."""
    make_quiet()
