"""Readers for the formats of published corpora; each reader yields CorpusPages."""
