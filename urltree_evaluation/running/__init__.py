"""Run extractors. Each part of a corpus has its own process, which may hang, leak memory or crash.

extracting ──▶ part_run ──▶ watching ──▶ isolation ──▶ calling
all parts      one part     limits       a process     inside it: page after page
"""
