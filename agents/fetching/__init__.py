"""Asks for pages, beside the agent `agents.fetch`: each host in its turn."""
