"""Generate five invented web sites with feeds from a seed, and serve them on loopback."""

from demo.sites.feed import SampleItem
from demo.sites.sample import SiteSample, make_sample

__all__ = ["SampleItem", "SiteSample", "make_sample"]
