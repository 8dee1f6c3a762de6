"""Boilerpipe with the grandparent filter, which keeps one branch of Boilerpipe's selection.

    <article>                   n = 2                                     selected by Boilerpipe
      <div><p>a long first paragraph</p>      its 2nd ancestor: article       ✓
           <p>another</p></div>               article                         ✓   kept
    </article>
    <aside><ul>
      <li><p>a teaser</p></li></ul></aside>   its 2nd ancestor: ul            ✓   discarded

Source: Viveros-Jiménez, Sanchez-Perez et al., "Improving the Boilerpipe Algorithm for Boilerplate
Removal in News Articles Using HTML Tree Structure", Computación y Sistemas 22(2), 2018, section 4.
The published value is n = 2; table 2 of the paper has the values 1 to 5.

Choices where the paper leaves a question open:
- The variant of Boilerpipe is `ArticleExtractor`, which is meant for news, because the paper is
  about news.
- Ancestors are all elements of the DOM ("HTML tree"), not only paragraphs. If a paragraph has fewer
  than n ancestors, <html> is used as the n-th ancestor.
- Text next to paragraphs in a <div> counts as a paragraph of that <div>: Boilerpipe selects text,
  and the filter must not lose any of it.
- Text is counted in characters, the unit of the paper's own metric. If several groups have the same
  size, the first group is kept.
- boilerpy3 alone reads tags as they are written. Here it receives the tree that libxml2 repairs,
  because ancestors require a tree; the original Boilerpipe receives a tree that NekoHTML repairs.
  Therefore <br/> ends a block as <br> does, and unmatched end tags raise no error. This difference
  alone, without the filter, changes F1 from .859 to .848 on streams and from .725 to .766 on
  newspaper-tests. The extractor `boilerpipe-unfiltered` has this tree, but not the filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from boilerpy3.document import TextBlock, TextDocument
from boilerpy3.extractors import ArticleExtractor
from boilerpy3.parser import BoilerpipeBaseParser

from urltree_evaluation.extractors.html_events import feed_events
from urltree_evaluation.extractors.registry import single_page

PARAGRAPHS = frozenset(
    {"div", "table", "ul", "ol", "p", "section", "article", "header", "body"}
    | {f"h{level}" for level in range(1, 7)}
)
MAX_BLOCK = 20_000  # characters; boilerpy3 copies the whole block each time that it adds text

_BOILERPIPE = ArticleExtractor()


def extract(html: str, _url: str, *, ancestor: int | None) -> str | None:
    """Return the text of the largest group of paragraphs that Boilerpipe selects.

    Args:
        html: a page.
        ancestor: number n. Paragraphs with the same n-th ancestor are one group. None keeps all
            groups.

    Raises:
        PageError: `too-large`, for markup that cannot be parsed in bounded time.
    """
    page = _Page()
    feed_events(html, page)
    blocks = page.selected()
    if ancestor is None:
        return "\n".join(block.text for block in blocks)
    groups = [page.ancestor(block.paragraph, ancestor) for block in blocks]
    sizes = Counter[int]()
    for block, group in zip(blocks, groups, strict=True):
        sizes[group] += len(block.text)
    largest = max(sizes, key=sizes.__getitem__, default=None)
    kept = (block for block, group in zip(blocks, groups, strict=True) if group == largest)
    return "\n".join(block.text for block in kept)


single_page(
    "boilerpipe-unfiltered",
    "ArticleExtractor on the tree that the filter reads",
    package="boilerpy3",
)(partial(extract, ancestor=None))
for n in range(1, 6):
    single_page(
        f"boilerpipe-grandparent-{n}",
        f"ArticleExtractor, one group by ancestor {n}",
        package="boilerpy3",
    )(partial(extract, ancestor=n))


class _Block(TextBlock):  # type: ignore[misc]
    """A block of boilerpy3's parser with the paragraph that contains it.

    A block never contains text of two paragraphs, because the tags of paragraphs end blocks.
    Boilerpipe's filters merge blocks. The attribute `contained_text_elements` of a merged block
    has the numbers of the blocks that were merged.
    """

    text: str
    paragraph: int

    def merge_next(self, next_text_block: TextBlock) -> None:
        """Merge the next block without joining the texts, which would take quadratic time."""
        text, self.text = self.text, ""
        super().merge_next(next_text_block)
        self.text = text


class _Page(BoilerpipeBaseParser):  # type: ignore[misc]
    """A handler of parser events that passes events to boilerpy3 and records the elements' tree.

    Attributes:
        _parents: index of each element's parent; -1 for <html>.
        _path: -1, then the indexes of the open elements.
        _paragraphs: index of the innermost paragraph that contains each open element; the index of
            the element itself if the element is a paragraph.
        _paragraph: index of the paragraph that contains the latest text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_start_tag = ""
        self._parents: list[int] = []
        self._path = [-1]
        self._paragraphs = [0]
        self._paragraph = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        number = len(self._parents)
        self._parents.append(self._path[-1])
        self._path.append(number)
        self._paragraphs.append(number if tag in PARAGRAPHS else self._paragraphs[-1])
        self.start_element(tag, attributes)

    def end(self, tag: str) -> None:
        self.end_element(tag)
        self._path.pop()
        self._paragraphs.pop()

    def data(self, text: str) -> None:
        self.flush |= len(self.text_buffer) > MAX_BLOCK
        self.characters(text)  # boilerpy3 ends the previous block here, not at its end tag
        self._paragraph = self._paragraphs[-1]

    def close(self) -> None:
        self.end_document()

    def add_text_block(self, block: TextBlock) -> None:
        """Store a block; boilerpy3 calls this for each block that has ended."""
        block.__class__ = _Block
        block.paragraph = self._paragraph
        block.contained_text_elements = {len(self.text_blocks)}
        self.text_blocks.append(block)

    def selected(self) -> list[_Block]:
        """Return the unmerged blocks that Boilerpipe classifies as content."""
        document = TextDocument(list(self.text_blocks), self.title)
        _BOILERPIPE.filter.process(document)
        content = (block for block in document.text_blocks if block.is_content)
        numbers = sorted(number for block in content for number in block.contained_text_elements)
        return [self.text_blocks[number] for number in numbers]

    def ancestor(self, element: int, n: int) -> int:
        """Return the n-th ancestor of an element, or the outermost element if there is none.

        The first ancestor is the parent.
        """
        for _ in range(n):
            element = max(self._parents[element], 0)
        return element
