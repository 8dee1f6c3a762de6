"""The default heuristic: it combines repetition on the site with signals in the page's own markup.

    document ──▶ features.py            word counts, element paths, repetition, title block
                   │
                   ├──▶ marks.py             elements that are boilerplate by their tag or names
                   ├──▶ main_element.py      the element with the page's main text
                   ▼
                 signals.py             the signals, one after the other: the first signal that
                   │                    finds boilerplate in a block sets the kind of the block
                   ├──▶ second_opinion.py   corrections by a single-page extractor, if one was run
                   ▼
                 page_classifier.py     article or listing

`judging.py` runs these steps for each page. To change what counts as boilerplate, change a signal
in `signals.py`. All fitted numbers are in `parameters.py`, all words of class names in `names.py`.
"""

from __future__ import annotations

from urltree.heuristics.evidence.judging import EVIDENCE, Evidence

__all__ = ["EVIDENCE", "Evidence"]
