"""Measure the quality of a heuristic and compare it with limits: `python -m bench.quality`.

    streams ──▶ passes.py: F1 of each scored page, by variant ──┬──▶ level.py        sections 1, 6
                                                                ├──▶ against.py      section 2
                                                                ├──▶ without.py      sections 3, 4
    generated streams (bench.hard_streams) ─────────────────────┴──▶ ablation.py     section 9
    pages of one site alone ──▶ single_pages.py                                      section 8
    halves of the sites ──▶ refit/                                                   section 5

A variant is a heuristic and its inputs; `variant.py` names the variants that are measured.
"""
