"""Readers for the formats of published corpora; each one yields CorpusPages."""
