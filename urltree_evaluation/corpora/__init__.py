"""Readers of corpora in the forms that the literature left: each gives CorpusPages."""
