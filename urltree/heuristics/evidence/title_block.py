"""The title block: the block of a page that contains its title.

The title is given with the page, or is the text of the page's <title>. This text often contains the
name of the site too: `A storm of talks | News | Example` matches a block "A storm of talks" well,
and a block "News" less well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from urltree.heuristics.evidence.columns import BlockColumns
from urltree.html.blocks import NO_LETTERS, block_hashes, normalise_text

_SEPARATOR = re.compile(r"\s+[-\u2013\u2014|·•:»«/~]+\s+|[|»«·•]+|:\s+|\s+::\s+")
_MOST_PARTS = 6  # largest number of parts of a title that are tried
_LEAST_SHARE = (
    0.3  # a part of the title is compared if it has at least this share of the title's letters
)
_LEAST_LETTERS = 6  # least number of letters of a match
# Scores are in percent of the title's letters.
_HEADING = 20.0  # added to the score of a heading, less its level (1 to 6)
_LINK = 30.0  # subtracted from the score of a link that is no heading: it leads to another page


def find_title_block(
    blocks: BlockColumns,
    prose: Sequence[float],
    title: str | None,
    page_title: str | None,
) -> int | None:
    """Return the index of the title block, None if no block matches.

    Args:
        blocks: blocks of the page, as columns.
        prose: words of running text of each block. A block that follows much running text is
            unlikely to be the title block.
        title: title that was given with the page; it is tried first.
        page_title: text of the page's <title>.
    """
    total = sum(prose) or 1.0
    before = list(accumulate(prose, initial=0.0))
    for text in dict.fromkeys((title, page_title)):
        if text and (found := _best(blocks, before, total, text)) is not None:
            return found
    return None


def _best(blocks: BlockColumns, before: Sequence[float], total: float, title: str) -> int | None:
    """Return the index of the block that matches best, None if none matches.

    A block matches if it is a part of the title, or a heading that is similar to the title.
    """
    shares, letters = _parts(title)
    headings, hashes = blocks.headings, blocks.hashes
    best, best_score = None, 0.0
    for index in [n for n, one in enumerate(hashes) if headings[n] or one in shares]:
        heading, share = headings[index], shares.get(hashes[index])
        if share is None:
            if len(blocks.texts[index]) > 2 * len(title):
                continue
            share = _share(normalise_text(blocks.texts[index]), letters)
            if share is None:
                continue
        score = 100 * share
        if heading:
            score += _HEADING - heading
        elif blocks.link_shares[index] > 0.9:
            score -= _LINK
        score *= 1 - before[index] / total
        if score > best_score:
            best, best_score = index, score
    return best


@lru_cache(maxsize=64)
def _parts(title: str) -> tuple[dict[int, float], str]:
    """Split a title into parts; return the score of each run of parts by hash, and all letters."""
    parts = [normalise_text(part) for part in _SEPARATOR.split(title)[:_MOST_PARTS]]
    letters = normalise_text(title)
    if not letters:
        return {}, ""
    least = max(_LEAST_LETTERS, _LEAST_SHARE * len(letters))
    joined = map("".join, _runs([part for part in parts if part]))
    runs = [letters, *(run for run in joined if len(run) >= least)]
    hashes = block_hashes(runs)
    shares = {
        block_hash: (1.0 if run == letters else 0.5 * len(run) / len(letters))
        for run, block_hash in reversed(list(zip(runs, hashes, strict=True)))
    }
    shares.pop(NO_LETTERS, None)
    return shares, letters


def _runs(parts: list[str]) -> Iterator[list[str]]:
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            yield parts[start:end]


def _share(heading: str, letters: str) -> float | None:
    """Return the score (0 to 1) of a heading that is not a part of the title.

    Args:
        heading: letters of the heading.
        letters: letters of the title.

    Returns:
        None if the heading is not similar to the title.
    """
    if len(heading) < _LEAST_LETTERS or not letters:
        return None
    if heading in letters:
        share = len(heading) / len(letters)
        return 0.5 * share if share >= _LEAST_SHARE else None
    if len(letters) >= 2 * _LEAST_LETTERS and heading.startswith(letters):
        return 0.4 if len(heading) < 1.5 * len(letters) else None
    return None
