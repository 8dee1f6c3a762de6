"""Five web sites that do not exist: generated from a seed, served on loopback, with gold."""

from demo.sites.sample import Request, Sample, sample

__all__ = ["Request", "Sample", "sample"]
