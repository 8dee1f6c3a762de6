"""The service that requests pages, one at a time from each host; used by `agents.fetch`."""
