"""Metrics: gold and prediction in, precision, recall and F1 out."""
