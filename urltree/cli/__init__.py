"""The command `urltree`: pages in, clean text out, without Kafka."""

from urltree.cli.main import main

__all__ = ["main"]
