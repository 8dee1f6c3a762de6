"""Benchmarks of speed, memory and state, compared with other programs (`make bench`)."""
