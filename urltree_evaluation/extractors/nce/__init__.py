"""NCE, the News Content Extractor: finds body, comments and title by the DOM alone.

    html ─▶ parse_page ─▶ separator.find_body ─▶ comments.remove_comments ─▶ title.find_title ─▶
               text DOM             phase 1                    phase 2                  phase 3

Source: Laber et al., "A fast and simple method for extracting relevant content from news
webpages", CIKM 2009, section 2. Some conditions and steps are unreadable in our copy of the paper.

Choices where the paper leaves a question open:
- The constants were fitted on one corpus, see `constants.py`.
- Lengths are numbers of characters after white space is collapsed. A leaf is a text; white space
  alone is not a leaf.
- Text in scripts, styles, form fields and the like is ignored (`urltree.html.elements.DROPPED`).
- In a subtree inside a link, all text counts as link text.
- A text directly in the separator node is a child of that node, with link density 0. An <a> beside
  the text is a child with link density 1 and is dropped, even in the middle of a sentence. This
  follows the paper's definition of the forest literally.
- `comments.py` defines the head of a comment, which is the line with its author and date.
- The title is added even if the body begins with the title, because the paper has no condition.
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
def extract(html: str, url: str) -> str | None:  # noqa: ARG001 - the signature of all extractors
    """Return the title and the body of a page.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    return extract_news(parse_page(html), CONSTANTS)


def extract_news(tree: PageTree, constants: Constants) -> str:
    """Run the three phases with these constants, and return title and body of a parsed page."""
    if not tree.tags:
        return ""
    forest = remove_comments(tree, find_body(tree, constants), constants)
    return f"{tree.text(find_title(tree, forest, constants))}\n{tree.text(forest)}".strip()
