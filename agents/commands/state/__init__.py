"""The command `state`: dump and restore what the job has learned."""
