"""The numbers of the heuristic: chosen on the streams, and refitted by `bench.quality`."""

from __future__ import annotations

from typing import NamedTuple


class Parameters(NamedTuple):
    """What `evidence` is set by; `bench.quality` refits every number on half of the sites.

    Attributes:
        repeated_from: documents in a domain from which repetition judges.
        repeated_share: of the domain's documents, up to `repeated_cap` of them, above which a
            block outside the main element is repeated.
        repeated_cap: documents that a share is taken of at most: after a redesign what is new
            recurs on few of many.
        main_least: documents with a block up to which it may be content in the main element.
        main_share: of a node's documents above which a block in the main element is boilerplate.
        main_support: documents from which a node below the root judges so.
        path_documents: with text at a path, from which its past counts.
        path_repeated: share of a path's past words above which the path repeats itself.
        main_repeated: the same in the main element.
        path_linked: share of a path's words inside links above which it is a list of links.
        prose_words: of a block from which it is prose.
        prose_linked: share inside links up to which it may be prose.
        sibling_share: of the main element's score from which an element beside it belongs to it.
        named_content: by how much a name of content, or <article>, raises an element's score.
        title_nearness: how much an element gains that shares all ancestors with the title block.
        votes: documents with a main element from which the site's usual path counts.
        vote_share: of them, for the most frequent path to be the usual one.
        vote_share_alone: the same where the element there has no prose on this page.
        least_words: kept below which a page without a title block, or a listing, is judged by
            repetition alone.
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
