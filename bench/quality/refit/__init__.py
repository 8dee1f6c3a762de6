"""Section 5: measure the quality on sites that were not used to choose the numbers and words.

ten halvings, both ways ──▶ fitting.py: fit all numbers and word lists on one half
                                 │
halves.py: F1 on the other half ◀┘  minus F1 with a fit on all sites by the same program
"""
