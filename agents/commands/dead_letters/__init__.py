"""The command `dead-letters`: list, show and replay refused records."""
