"""The command `urltree`, which extracts the clean text of pages without Kafka."""

from urltree.cli.main import main

__all__ = ["main"]
