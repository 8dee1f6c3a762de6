"""Records of the crawler: sources, requests to hosts, pages to fetch, and rules."""
