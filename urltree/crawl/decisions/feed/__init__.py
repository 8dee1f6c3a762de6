"""Feeds: find the feeds of a site, parse them, and read how often each feed asks to be polled."""
