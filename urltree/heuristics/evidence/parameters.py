"""The numbers of the heuristic, fitted on the 22 streams of the benchmark.

`bench.quality` fits them again, on halves of the sites.
"""

from __future__ import annotations

from typing import NamedTuple


class Parameters(NamedTuple):
    """Thresholds and weights of the heuristic `evidence`.

    Attributes:
        repeated_from: documents of a domain that repetition needs at least.
        repeated_share: a block outside the main element is repeated if it is on more than this
            share of the domain's documents.
        repeated_cap: that share is taken of at most this many documents, because after a redesign
            a new block recurs on only a few of many documents.
        main_least: a block in the main element may be content if it is on at most this many
            documents.
        main_share: a block in the main element is boilerplate if it is on more than this share of
            a node's documents.
        main_support: documents that a node below the root needs at least to judge such a block.
        path_documents: documents with text at a path that are needed to use its past.
        path_repeated: a path repeats itself if more than this share of its past words was repeated.
        main_repeated: the same share inside the main element.
        path_linked: a path is a list of links if more than this share of its words is in links.
        prose_words: words that running text has at least.
        prose_linked: largest share of running text inside links.
        sibling_share: an element beside the main element belongs to it if its score is at least
            this share of the main element's score.
        named_content: increase of an element's score for a name of content, or for <article>.
        title_nearness: largest increase of an element's score for being near the title block.
        votes: documents with a main element that are needed to use the site's usual path.
        vote_share: share of these documents that the usual path has at least.
        vote_share_alone: the same share if the element has no running text on this page.
        least_words: if fewer words are kept, a listing or a page without title block is judged by
            repetition only.
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
