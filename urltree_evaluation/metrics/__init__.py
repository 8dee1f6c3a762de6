"""Metrics: compute precision, recall and F1 from gold and prediction."""
