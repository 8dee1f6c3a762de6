"""NCE, the News Content Extractor: body, comments, title, on the DOM alone.

    html ─▶ page_tree ─▶ separator.body ─▶ comments.without_comments ─▶ title.title ─▶ text
              DOM           phase 1                 phase 2                phase 3

Source: Laber et al., "A fast and simple method for extracting relevant content from news
webpages", CIKM 2009, section 2, read through issue 5: conditions and steps are partly lost in the
text that we have.

What the paper leaves open, and what is done here:
- The constants: `constants.py`, fitted on a corpus that is named there.
- Lengths are in characters, white space collapsed; leaves are texts, white space alone is none.
- Text in scripts, styles, forms' fields and the like is no text (`urltree.html.elements.DROPPED`).
- Links count as links in a subtree that stands inside one, too.
- A text directly in the separator node is a child of it, with link density 0; an <a> beside it is
  one with link density 1 and is dropped, in the middle of a sentence too. That is the paper's
  forest to the letter.
- What a comment's head is: `comments.py`.
- The title is added whether or not the body begins with it: the paper does not ask.
"""

from __future__ import annotations

from urltree_evaluation.extractors.nce.comments import remove_comments
from urltree_evaluation.extractors.nce.constants import CONSTANTS, EXPLORATION, Constants
from urltree_evaluation.extractors.nce.page import PageTree, parse_page
from urltree_evaluation.extractors.nce.separator import find_body
from urltree_evaluation.extractors.nce.title import find_title
from urltree_evaluation.extractors.registry import single_page

__all__ = ["CONSTANTS", "EXPLORATION", "Constants", "extract", "news"]


@single_page("nce", f"constants fitted on {EXPLORATION}")
def extract(html: str, url: str) -> str | None:  # noqa: ARG001 - what every extractor is given
    """Title and body.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    return extract_news(parse_page(html), CONSTANTS)


def extract_news(tree: PageTree, constants: Constants) -> str:
    """Title and body of a page that is parsed: the three phases, with any constants."""
    if not tree.tags:
        return ""
    forest = remove_comments(tree, find_body(tree, constants), constants)
    return f"{tree.text(find_title(tree, forest, constants))}\n{tree.text(forest)}".strip()
