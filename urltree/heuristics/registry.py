"""The registry of heuristics: it makes a heuristic from its name.

The paper's four heuristics count repetition (`paper.py`); `evidence` is the default. To change what
`evidence` treats as boilerplate, change a file in `heuristics/evidence/`. To add a heuristic, write
a class that implements `Heuristic` (`protocol.py`) and add a line to `_FAMILIES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from urltree.heuristics.evidence import EVIDENCE, Evidence
from urltree.heuristics.paper import relaxed_at_domain, strict, strict_at_domain
from urltree.heuristics.protocol import Heuristic

DEFAULT = "evidence"

# Name of a family → function that makes the heuristic from the number in its name. The function of
# a family without numbers is called with 0.
_FAMILIES: dict[str, Callable[[int], Heuristic]] = {
    "evidence": lambda _: Evidence(),
    "strict": lambda _: strict("strict"),
    "strict-support": lambda n: strict(f"strict-support-{n}", n + 1),
    "strict-at-domain": lambda _: strict_at_domain("strict-at-domain"),
    "relaxed-at-domain": lambda n: relaxed_at_domain(f"relaxed-at-domain-{n}", n),
}
_DEFAULT_N = {"strict-support": 100, "relaxed-at-domain": 500}  # tuned in the paper, section 5.5

NAMES = tuple(name + (f"-{_DEFAULT_N[name]}" if name in _DEFAULT_N else "") for name in _FAMILIES)

_WITHOUT = "evidence-without-"


def heuristic(name: str) -> Heuristic:
    """Return the heuristic with this name, such as `evidence` or `strict-support-100`.

    A heuristic such as `evidence-without-names` leaves out one part of `evidence`; it is used to
    measure what the part contributes.

    Raises:
        ValueError: no heuristic has that name; the message lists the names.
    """
    if name.startswith(_WITHOUT) and name.removeprefix(_WITHOUT) in EVIDENCE:
        return Evidence(without=name.removeprefix(_WITHOUT))
    match = re.fullmatch(r"([a-z-]+?)(?:-([0-9]+))?", name)
    family = match.group(1) if match else ""
    number = match.group(2) if match else None
    if family not in _FAMILIES or (number is None) == (family in _DEFAULT_N):
        raise ValueError(
            f"heuristic: {name!r} does not exist; use one of {', '.join(NAMES)}; the number in a "
            "name may be any number"
        )
    return _FAMILIES[family](int(number or 0))
