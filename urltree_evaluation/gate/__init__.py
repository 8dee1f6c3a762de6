"""The quality gate: minimum F1 values of our heuristics, on original pages and on masked ones."""
