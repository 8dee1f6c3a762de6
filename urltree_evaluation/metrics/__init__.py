"""Metrics: from gold and prediction to precision, recall and F1."""
