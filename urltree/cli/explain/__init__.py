"""`urltree explain`: why a block was kept or dropped."""

from urltree.cli.explain.explain import explain_command

__all__ = ["explain_command"]
