"""Row 5: what a heuristic is worth on sites that its numbers and words were not chosen on.

ten halvings, both ways ──▶ fitting.py: every number and the word list, from one half
                                 │
halves.py: F1 on the other half ◀┘  minus that of the same script, fitted on all sites
"""
