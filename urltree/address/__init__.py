"""Addresses: URL, registrable domain, URL key, and rules for query parameters."""
