"""Hard streams: real pages with what makes real sites hard, each with its gold (issue 6, row 7).

    pages of a site ──▶ cut_page.py: pieces, by the gold ──▶ a generator ──▶ pages, gold still right
                                                                   └──▶ measuring.py ──▶ a table

`python -m bench.hard_streams` measures heuristics on them. What it generates can be had, too:

    for generator, pages in streams(folder, ["example.org.jsonl.zst"], 300): …
"""

from bench.hard_streams.generators import GENERATORS, streams

__all__ = ["GENERATORS", "streams"]
