"""Five web sites that do not exist: generated from a seed, with feeds and gold, on loopback."""

from demo.sites.feed import Item
from demo.sites.sample import Sample, sample

__all__ = ["Item", "Sample", "sample"]
