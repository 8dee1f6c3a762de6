"""Feeds: parse them, find them, and read what they say about polling."""
