"""The constants of NCE, which the paper leaves to an exploration corpus.

They are fitted by `python -m bench.nce_constants` on one corpus, whose name is stored with them.
NCE's results on that corpus show how well it can be fitted, not its quality.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Constants:
    """The paper's alphas and betas; those without a letter are unreadable in the text we have.

    Attributes:
        leaf: β₃, lowest number of characters of a text at which the search can begin.
        separator: β₂, lowest number of characters in the separator node's subtree.
        notable: lowest number of characters of a notable sibling; a separator may have one.
        sibling_links: the link density of a notable sibling is below this.
        child_links: alpha₄, highest link density of a kept child (about .4).
        head: highest number of characters of a comment's head.
        distance: highest difference of ids between two close heads.
        title_most: highest number of words of a title; the lowest is 4.
        title_shared: lowest share of a title's words that are in the body.
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
