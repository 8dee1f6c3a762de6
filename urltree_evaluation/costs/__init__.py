"""The cost of extractors: CPU time as a multiple of a bare parse, and peak memory."""
