"""Polling: when a feed is due, and how a poll changes its stored state."""
