"""What is wrong with a corpus that is read."""

from __future__ import annotations


class CorpusError(Exception):
    """The corpus' fault; the message names the file, and the page or the line in it."""
