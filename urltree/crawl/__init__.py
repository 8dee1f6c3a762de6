"""Parts of a crawler: decisions about feeds, hosts and robots.txt, and an HTTP client.

This package needs the extra `crawl`. No other package in `urltree` imports it.
"""
