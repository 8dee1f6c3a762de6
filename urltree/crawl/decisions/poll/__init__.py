"""Decisions about polls: when a feed is due, which items are new, what a poll changes."""
