"""Benchmarks: speed, memory and state of the product beside other extractors (`make bench`)."""
