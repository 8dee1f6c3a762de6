"""Suggest query rules from the evidence of a domain; a person decides whether to use them.

A rule retains the parameters that it names and drops all others. So a suggested rule names every
parameter of its path that changes the content or is undecided. A path without parameters to drop
needs no rule. But if the pattern of another suggested rule matches it, the path gets its own rule
before that rule, so that its parameters are retained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from urltree.address.path_patterns import most_specific_first
from urltree.address.query_evidence import ParameterEvidence, PathEvidence
from urltree.address.query_rules import Rule


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested rule, and the evidence about each parameter at the rule's path."""

    rule: Rule
    parameters: tuple[ParameterEvidence, ...]


def suggestions(evidence: Sequence[PathEvidence]) -> list[Suggestion]:
    """Return rules for the paths of one domain, in the order in which they must be tried."""
    found: dict[tuple[str, str], Suggestion] = {}
    for path in evidence:
        if any(parameter.answer == "drop" for parameter in path.parameters or ()):
            decided = _decided_with(path, evidence)
            if all(each.parameters is not None for each in decided):
                found.update({(each.host, each.path): _suggestion(each) for each in decided})
    in_order = sorted(found, key=lambda place: (place[0], most_specific_first(place[1])))
    return [found[place] for place in in_order]


def _decided_with(path: PathEvidence, evidence: Sequence[PathEvidence]) -> list[PathEvidence]:
    """Return a path and all other paths that the rules of the returned paths would match."""
    decided, others = [path], [each for each in evidence if each is not path]
    for each in decided:  # `decided` grows in this loop
        rule = _suggestion(each).rule
        for other in [other for other in others if _applies(rule, other)]:
            decided.append(other)
            others.remove(other)
    return decided


def _suggestion(path: PathEvidence) -> Suggestion:
    parameters = path.parameters or ()
    retained = frozenset(each.name for each in parameters if each.answer != "drop")
    return Suggestion(Rule(path.host, path.path, retained), parameters)


def _applies(rule: Rule, path: PathEvidence) -> bool:
    return (
        "*" in rule.path and rule.host == path.host and any(map(rule.applies_to_path, path.paths))
    )
