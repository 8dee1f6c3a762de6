"""Crawling: decisions about feeds, hosts and robots.txt, and an HTTP client.

It needs the extra `crawl`. Nothing else in `urltree` imports it.
"""
