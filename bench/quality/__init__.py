"""Quality of a heuristic, held to the bars of issue 6: `python -m bench.quality`.

    streams ──▶ passes.py: F1 of each scored page, by variant ──┬──▶ level.py        rows 1 and 6
                                                                ├──▶ against.py      row 2
                                                                ├──▶ without.py      rows 3 and 4
    generated streams (bench.hard_streams) ─────────────────────┴──▶ ablation.py     row 9
    pages of one site alone ──▶ single_pages.py                                      row 8
    halves of the sites ──▶ refit/                                                   row 5

A variant is a heuristic and what it is given; `variant.py` names those that a row asks for.
"""
