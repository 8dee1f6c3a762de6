"""The service that polls each feed when it is due; used by `agents.poll`."""
