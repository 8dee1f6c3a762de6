"""Offsets: what Kafka answers about them, how far a partition is done, and open transactions."""
