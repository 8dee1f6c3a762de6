"""The command `audit`: account for every input record."""
