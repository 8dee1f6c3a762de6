"""Feeds: find the feeds of a site, parse them, and read how often they ask to be polled."""
