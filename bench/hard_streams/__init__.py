"""Hard streams: real pages to which difficulties of other sites are added, with correct gold.

    pages of a site ──▶ cut_page.py: parts, by the gold ──▶ a generator ──▶ pages with correct gold
                                                                   └──▶ measuring.py ──▶ a table

`python -m bench.hard_streams` measures heuristics on these streams. A program can also read the
streams:

    for generator, pages in streams(folder, ["example.org"], 300): …
"""

from bench.hard_streams.generators import GENERATORS, streams

__all__ = ["GENERATORS", "streams"]
