"""Running extractors: each part of a corpus in a process of its own, which may hang, leak or crash.

extracting ──▶ part_run ──▶ watching ──▶ isolation ──▶ calling
which parts    one part     limits       a process     in it: page after page
"""
