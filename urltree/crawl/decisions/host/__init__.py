"""Decisions about hosts: queues, robots.txt, and the meaning of a response to a request."""
