"""Boilerpipe with the grandparent filter: of what Boilerpipe selects, one branch of the page.

    <article>                   n = 2                                     selected by Boilerpipe
      <div><p>a long first paragraph</p>      its 2nd ancestor: article       ✓
           <p>another</p></div>               article                         ✓   kept
    </article>
    <aside><ul>
      <li><p>a teaser</p></li></ul></aside>   its 2nd ancestor: ul            ✓   discarded

Source: Viveros-Jiménez, Sanchez-Perez et al., "Improving the Boilerpipe Algorithm for Boilerplate
Removal in News Articles Using HTML Tree Structure", Computación y Sistemas 22(2), 2018, section 4.
Published is n = 2; table 2 has 1 to 5.

What the paper leaves open, and what is done here:
- Which Boilerpipe: `ArticleExtractor`, the one for news, which the paper is about.
- Ancestors are all elements of the DOM ("HTML tree"), not paragraphs alone; where there are fewer
  than n, <html> stands for the n-th.
- Text beside paragraphs in one <div> counts as a paragraph of that <div>: Boilerpipe selects text,
  and none may be lost on the way.
- Text is counted in characters, as the paper's own measure; of equal groups the first is kept.
- boilerpy3 reads tags as they are written. Here it reads what libxml2 makes of them, as the
  original reads NekoHTML's repaired tree: there is no ancestor without a tree. So <br/> ends a
  block as <br> does, which boilerpy3 passes over, and end tags of nothing raise no error. That
  alone, without the filter, is F1 .848 for .859 on streams and .766 for .725 on newspaper-tests:
  `boilerpipe-unfiltered` is what the filter is to be compared with.
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
MAX_BLOCK = 20_000  # characters: boilerpy3 copies a block with every piece of text that is added

_BOILERPIPE = ArticleExtractor()


def extract(html: str, _url: str, *, ancestor: int | None) -> str | None:
    """The text of the largest group of paragraphs that Boilerpipe selects.

    Args:
        html: a page.
        ancestor: n; paragraphs with the same n-th ancestor are a group. None keeps all.

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
    """A block as boilerpy3's parser makes it, and the paragraph that it stands in.

    No block holds text of two paragraphs: a paragraph's tags end blocks. Filters fuse blocks;
    `contained_text_elements`, which they unite, holds the blocks' numbers.
    """

    text: str
    paragraph: int

    def merge_next(self, next_text_block: TextBlock) -> None:
        """Fuse; texts are not joined, which takes time quadratic in the number of blocks."""
        text, self.text = self.text, ""
        super().merge_next(next_text_block)
        self.text = text


class _Page(BoilerpipeBaseParser):  # type: ignore[misc]
    """What the markup's events call: hands them to boilerpy3, and keeps the tree of elements.

    Attributes:
        _parents: of each element; -1 of <html>.
        _path: the open elements.
        _paragraphs: of each of them, the innermost paragraph around it or itself.
        _paragraph: of the text that came last.
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
        self.characters(text)  # the block before ends here, not with its tag
        self._paragraph = self._paragraphs[-1]

    def close(self) -> None:
        self.end_document()

    def add_text_block(self, block: TextBlock) -> None:
        """Called by boilerpy3 for each block that ended."""
        block.__class__ = _Block
        block.paragraph = self._paragraph
        block.contained_text_elements = {len(self.text_blocks)}
        self.text_blocks.append(block)

    def selected(self) -> list[_Block]:
        """The blocks of the page that Boilerpipe takes for content, unfused."""
        document = TextDocument(list(self.text_blocks), self.title)
        _BOILERPIPE.filter.process(document)
        content = (block for block in document.text_blocks if block.is_content)
        numbers = sorted(number for block in content for number in block.contained_text_elements)
        return [self.text_blocks[number] for number in numbers]

    def ancestor(self, element: int, n: int) -> int:
        """The n-th ancestor, 1 is the parent; the outermost element where there are fewer."""
        for _ in range(n):
            element = max(self._parents[element], 0)
        return element
