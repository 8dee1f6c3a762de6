"""Feeds: find them, parse them, and read how often they want to be polled."""
