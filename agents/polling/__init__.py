"""Asks feeds, beside the agent `agents.poll`: each when it is due."""
