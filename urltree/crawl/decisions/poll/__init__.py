"""Polls: when each feed is due, which of its items are new, and what a poll changes."""
