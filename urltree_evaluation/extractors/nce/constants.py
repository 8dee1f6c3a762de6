"""The constants of NCE. The paper says that they are chosen on an exploration corpus.

`python -m bench.nce_constants` fits them on one corpus, whose name is stored with them. The results
of NCE on that corpus show how well the constants fit, not the quality of NCE.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants that the paper calls alpha and beta.

    A description begins with the letter in the paper if our copy of the paper shows the letter.

    Attributes:
        leaf: β₃, lowest number of characters of a text at which the search can begin.
        separator: β₂, lowest number of characters in the separator node's subtree.
        notable: lowest number of characters of a notable sibling. A separator may have at most one
            notable sibling.
        sibling_links: a notable sibling has a lower link density than this value.
        child_links: alpha₄, highest link density of a kept child (about .4).
        head: highest number of characters of a comment's head.
        distance: highest difference between the ids of two heads that are close to each other.
        title_most: highest number of words of a title; the lowest is 4.
        title_shared: lowest share of a title's words that also occur in the body.
    """

    leaf: int
    separator: int
    notable: int
    sibling_links: float
    child_links: float
    head: int
    distance: int
    title_most: int
    title_shared: float


_FITTED = json.loads(files(__package__).joinpath("constants.json").read_text(encoding="utf-8"))

EXPLORATION: str = _FITTED["corpus"]  # name of the corpus; NCE is not ranked there
CONSTANTS = Constants(**_FITTED["constants"])
