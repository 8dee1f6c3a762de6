"""`urltree explain`: why a block was kept or dropped."""

from urltree.command.explain.explain import explain

__all__ = ["explain"]
