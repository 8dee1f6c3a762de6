"""Hosts: queues, robots.txt, and the meaning of the response to a page request."""
