"""Addresses: URL, registrable domain, URL key, and the rules for query parameters."""
