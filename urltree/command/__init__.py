"""The command `urltree`: pages in, clean text out, without Kafka."""

from urltree.command.main import main

__all__ = ["main"]
