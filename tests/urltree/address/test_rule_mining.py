"""Suggested rules: what they retain, and their order."""

from __future__ import annotations

from collections.abc import Sequence

from urltree.address.query_evidence import ParameterAnswer, ParameterEvidence, PathEvidence
from urltree.address.query_rules import Rule
from urltree.address.rule_mining import suggestions

HOST = "example.org"


def parameter(name: str, answer: ParameterAnswer) -> ParameterEvidence:
    """Return evidence with this answer."""
    same, different = {"drop": (9, 0), "keep": (0, 9), "undecided": (1, 0)}[answer]
    made = ParameterEvidence(name, 20, same + different, same, different, same)
    assert made.answer == answer
    return made


def evidence(path: str, example: str = "", **answers: ParameterAnswer) -> PathEvidence:
    """Return the evidence about a path with these parameters."""
    parameters = tuple(parameter(name, answer) for name, answer in answers.items())
    return PathEvidence(HOST, path, frozenset([example or path]), parameters)


def rules(evidence: Sequence[PathEvidence]) -> list[tuple[str, set[str]]]:
    """Return path and retained parameters of each suggestion."""
    return [(each.rule.path, set(each.rule.retain)) for each in suggestions(evidence)]


def test_a_rule_retains_all_that_it_has_no_reason_to_drop() -> None:
    """Undecided parameters are retained."""
    (suggestion,) = suggestions([evidence("/list", id="keep", page="undecided", sort="drop")])
    assert suggestion.rule == Rule(HOST, "/list", frozenset({"id", "page"}))


def test_without_a_parameter_to_drop_there_is_no_rule() -> None:
    """Such a rule would only drop parameters that no page has had so far."""
    assert rules([evidence("/story", id="keep"), evidence("/list", page="undecided")]) == []


def test_what_a_pattern_matches_besides_has_its_own_rule_before_it() -> None:
    """A star matches slashes: without its own rule, /news/*/photos would lose its parameter."""
    wide = evidence("/news/*", "/news/a", share="drop")
    deep = evidence("/news/*/photos", "/news/a/photos", photo="keep")
    other = evidence("/sport/photos", photo="keep")
    assert rules([wide, deep, other]) == [("/news/*/photos", {"photo"}), ("/news/*", set())]


def test_what_stands_before_is_guarded_too() -> None:
    """A rule that only protects a path may match other paths, which need rules too."""
    wide = evidence("/*/x", "/a/x", s="drop")
    deep = PathEvidence(HOST, "/*/*/*", frozenset({"/a/b/x"}), (parameter("id", "keep"),))
    deeper = evidence("/*/*/*/y", "/a/b/c/y", p="keep")
    assert [path for path, _ in rules([wide, deep, deeper])] == ["/*/*/*/y", "/*/*/*", "/*/x"]


def test_a_pattern_that_matches_names_without_end_is_no_rule() -> None:
    """A rule cannot retain an endless number of names."""
    wide = evidence("/news/*", "/news/a", share="drop")
    crowded = PathEvidence(HOST, "/news/*/x", frozenset({"/news/a/x"}), None)
    assert rules([wide, crowded]) == []
