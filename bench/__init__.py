"""Benchmarks of the product's speed, memory and state, compared with others (`make bench`)."""
