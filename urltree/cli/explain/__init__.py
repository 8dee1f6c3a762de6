"""`urltree explain`: why a block was kept or dropped."""

from urltree.cli.explain.explain import explain

__all__ = ["explain"]
