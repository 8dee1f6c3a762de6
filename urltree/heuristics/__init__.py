"""Heuristics: they decide which text blocks of a document are boilerplate."""
