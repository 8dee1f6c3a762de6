"""Hosts: queues, robots.txt, and what the answer to a page request means."""
