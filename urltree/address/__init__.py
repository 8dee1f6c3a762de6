"""Addresses: URLs, registrable domains, URL keys, and rules for query parameters."""
