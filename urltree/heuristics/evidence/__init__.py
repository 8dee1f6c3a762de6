"""The default heuristic: repetition on the site's tree, and evidence in the page (issue 6).

document ──▶ page: sizes, paths, title block, main element
              │
              ▼ each piece of evidence in turn, the first that finds boilerplate names it
kinds of boilerplate, one a block ──▶ verdicts, and what the page adds to the site's paths
"""

from __future__ import annotations

from urltree.heuristics.evidence.judging import EVIDENCE, Evidence

__all__ = ["EVIDENCE", "Evidence"]
