"""`urltree explain`: show why each block of a page was kept or dropped."""

from urltree.cli.explain.explain import explain_command

__all__ = ["explain_command"]
