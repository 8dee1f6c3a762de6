"""Reading batches of records: codecs, limits, and records that nobody can read."""
