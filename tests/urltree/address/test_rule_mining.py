"""Rule mining: which parameters a suggested rule retains, and the order of the rules."""

from __future__ import annotations

from collections.abc import Sequence

from urltree.address.query_evidence import ParameterAnswer, ParameterEvidence, PathEvidence
from urltree.address.query_rules import Rule
from urltree.address.rule_mining import suggestions

HOST = "example.org"


def parameter(name: str, answer: ParameterAnswer) -> ParameterEvidence:
    """Return evidence about a parameter, with counts that lead to this answer."""
    same, different = {"drop": (9, 0), "keep": (0, 9), "undecided": (1, 0)}[answer]
    made = ParameterEvidence(name, 20, same + different, same, different, same)
    assert made.answer == answer
    return made


def evidence(path: str, example: str = "", **answers: ParameterAnswer) -> PathEvidence:
    """Return the evidence about a path with these parameters and answers."""
    parameters = tuple(parameter(name, answer) for name, answer in answers.items())
    return PathEvidence(HOST, path, frozenset([example or path]), parameters)


def rules(evidence: Sequence[PathEvidence]) -> list[tuple[str, set[str]]]:
    """Return the path and the retained parameters of each suggested rule."""
    return [(each.rule.path, set(each.rule.retain)) for each in suggestions(evidence)]


def test_a_rule_retains_all_that_it_has_no_reason_to_drop() -> None:
    """A rule retains undecided parameters too."""
    (suggestion,) = suggestions([evidence("/list", id="keep", page="undecided", sort="drop")])
    assert suggestion.rule == Rule(HOST, "/list", frozenset({"id", "page"}))


def test_without_a_parameter_to_drop_there_is_no_rule() -> None:
    """A path without a parameter to drop gets no rule.

    Such a rule would only drop parameters that no page has had so far.
    """
    assert rules([evidence("/story", id="keep"), evidence("/list", page="undecided")]) == []


def test_what_a_pattern_matches_besides_has_its_own_rule_before_it() -> None:
    """A path that a wider pattern also matches gets its own rule before it.

    A star matches slashes, so the rule for /news/* would otherwise also apply to /news/*/photos
    and drop its parameter.
    """
    wide = evidence("/news/*", "/news/a", share="drop")
    deep = evidence("/news/*/photos", "/news/a/photos", photo="keep")
    other = evidence("/sport/photos", photo="keep")
    assert rules([wide, deep, other]) == [("/news/*/photos", {"photo"}), ("/news/*", set())]


def test_what_stands_before_is_guarded_too() -> None:
    """A rule that protects one path may also match others, which get their own rules before it."""
    wide = evidence("/*/x", "/a/x", s="drop")
    deep = PathEvidence(HOST, "/*/*/*", frozenset({"/a/b/x"}), (parameter("id", "keep"),))
    deeper = evidence("/*/*/*/y", "/a/b/c/y", p="keep")
    assert [path for path, _ in rules([wide, deep, deeper])] == ["/*/*/*/y", "/*/*/*", "/*/x"]


def test_a_pattern_that_matches_names_without_end_is_no_rule() -> None:
    """A pattern gets no rule if it also matches a path with endless parameter names.

    The rule could not retain all these names.
    """
    wide = evidence("/news/*", "/news/a", share="drop")
    crowded = PathEvidence(HOST, "/news/*/x", frozenset({"/news/a/x"}), None)
    assert rules([wide, crowded]) == []
