"""NCE's constants: what the paper leaves to an exploration corpus.

They are fitted by `python -m bench.nce_constants` on one corpus, which is named with them: there
NCE's figures say how well it can be fitted, not how good it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Constants:
    """The paper's alphas and betas; those without a letter are unreadable in the text we have.

    Attributes:
        leaf: β₃, characters that a text has at least to begin the search at.
        separator: β₂, characters that the separator node's subtree has at least.
        notable: characters of a sibling of the separator that is notable: it may have one.
        sibling_links: a notable sibling's link density is below this.
        child_links: alpha₄, the highest link density of a kept child (about .4).
        head: characters that a comment's head has at most.
        distance: ids between two heads at most, to be close.
        title_most: words that a title has at most; 4 at least (issue 5).
        title_shared: share of a title's words that the body has, at least.
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

EXPLORATION: str = _FITTED["corpus"]  # its name; a ranking there is no comparison
CONSTANTS = Constants(**_FITTED["constants"])
