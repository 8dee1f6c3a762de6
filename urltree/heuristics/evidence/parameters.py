"""The numbers of the heuristic `evidence`, fitted on the 22 streams of the benchmark.

`bench.quality` repeats the fit on halves of the sites.
"""

from __future__ import annotations

from typing import NamedTuple


class Parameters(NamedTuple):
    """Thresholds and weights of the heuristic `evidence`.

    Attributes:
        repeated_from: least number of documents of a domain for which repetition is used.
        repeated_share: a block outside the main element is repeated if it is on more than one
            document, and on more than this share of the domain's documents.
        repeated_cap: largest number of documents to which `repeated_share` is applied. After a
            redesign, a new block recurs on only a few of many documents.
        main_least: repetition never removes a block in the main element that is on at most this
            many documents.
        main_share: a block in the main element is boilerplate if it is on more than this share of
            the documents at or below a node.
        main_support: least number of documents at or below a node for which `main_share` is used;
            for the root it is always used.
        path_documents: least number of past documents with text at a path for which the repeated
            words of the path are used.
        path_repeated: blocks at a path are boilerplate if more than this share of the words that
            past documents had at the path was repeated.
        main_repeated: the same share for blocks in the main element.
        path_linked: a path is a list of links if more than this share of its words is in links.
        prose_words: least number of words of a block of running text.
        prose_linked: largest share of the words of a block of running text that is in links.
        sibling_share: a sibling of the main element belongs to it if the sibling's score is at
            least this share of the main element's score.
        named_content: relative increase of an element's score if its names mean content, and again
            if its tag is <article> or <main>.
        title_nearness: largest relative increase of an element's score because the element is near
            the title block.
        votes: least number of past documents with a main element for which the site's usual path
            of the main element is used.
        vote_share: the usual path needs at least this share of the past main elements whose paths
            occur on the page.
        vote_share_alone: share of all past main elements that the usual path needs if its element
            has no running text on the page.
        least_words: if fewer words are content, a listing or a page without title block is judged
            by repetition only.
    """

    repeated_from: int = 3
    repeated_share: float = 0.1
    repeated_cap: int = 50
    main_least: int = 10
    main_share: float = 0.7
    main_support: int = 20
    path_documents: int = 5
    path_repeated: float = 0.7
    main_repeated: float = 0.8
    path_linked: float = 0.6
    prose_words: int = 8
    prose_linked: float = 0.5
    sibling_share: float = 0.2
    named_content: float = 0.5
    title_nearness: float = 4.0
    votes: int = 3
    vote_share: float = 0.5
    vote_share_alone: float = 0.8
    least_words: int = 8
