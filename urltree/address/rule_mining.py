"""Query rules that the evidence of a domain suggests; a person adds them (issue 6, design).

A rule retains what it names and drops the rest, so it names every parameter that was seen at its
path and is not to be dropped: those that change the content, and those of which too little is
known. A path where nothing is to be dropped needs no rule, unless the pattern of a rule behind it
matches it too: then a rule of its own stands before that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from urltree.address.path_patterns import most_specific_first
from urltree.address.query_evidence import ParameterEvidence, PathEvidence
from urltree.address.query_rules import Rule


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rule, and what speaks for it: the evidence of each parameter that was seen."""

    rule: Rule
    parameters: tuple[ParameterEvidence, ...]


def suggestions(evidence: Sequence[PathEvidence]) -> list[Suggestion]:
    """Rules for the paths of one domain, in the order in which they must stand."""
    found: dict[tuple[str, str], Suggestion] = {}
    for path in evidence:
        if any(parameter.answer == "drop" for parameter in path.parameters or ()):
            decided = _decided_with(path, evidence)
            if all(each.parameters is not None for each in decided):
                found.update({(each.host, each.path): _suggestion(each) for each in decided})
    in_order = sorted(found, key=lambda place: (place[0], most_specific_first(place[1])))
    return [found[place] for place in in_order]


def _decided_with(path: PathEvidence, evidence: Sequence[PathEvidence]) -> list[PathEvidence]:
    """A path, and all others that its rule, or a rule that stands before it, would decide."""
    decided, others = [path], [each for each in evidence if each is not path]
    for each in decided:  # grows
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
