"""Repeat the paper's measurements of quality on streams of pages with gold.

    pages of a site, in order ──▶ variants.py: F1 of every page by every heuristic and window
                                       ├──▶ tables.py ──▶ docs/claims.md
                                       └──▶ figures.py ──▶ docs/claims/figures.json
                                                                └──▶ curves.py ──▶ docs/claims/

`python -m bench.claims` runs all these modules and takes about three minutes on two cores.
`curves.draw_stored()` draws the curves again from the stored figures.
"""
