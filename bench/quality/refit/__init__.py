"""Section 5: the quality on sites from which the numbers and words were not chosen.

ten halvings, both ways ──▶ fitting.py: all numbers and the word lists, from one half
│
halves.py: F1 on the other half ◀┘  minus F1 with a fit on all sites by the same program
"""
