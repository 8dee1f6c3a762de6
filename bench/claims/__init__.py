"""The paper's claims of quality, measured anew on streams with gold (issue 5, row 6).

    pages of a site, in order ──▶ variants.py: F1 of every page by every heuristic and window
                                       └──▶ tables.py, curves.py ──▶ docs/claims.md, docs/claims/

`python -m bench.claims` does all of it, in about three minutes on two cores.
"""
