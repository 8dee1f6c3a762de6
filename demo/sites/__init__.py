"""Generate five invented web sites with feeds and gold from a seed, and serve them on loopback."""

from demo.sites.feed import FeedItem
from demo.sites.sample import SiteSample, make_sample

__all__ = ["FeedItem", "SiteSample", "make_sample"]
