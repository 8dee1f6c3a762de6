"""Crawling: the decisions about feeds, hosts and robots, and the HTTP client."""
