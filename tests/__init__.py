"""The tests, and the helpers that they share.

This file makes `tests` a regular package. Without it, Python prefers any package of that name that
a dependency has installed, also in the child processes that tests start.
"""
