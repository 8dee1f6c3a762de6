"""What extractors cost: CPU as a ratio to a bare parse, document by document, and peak memory."""
