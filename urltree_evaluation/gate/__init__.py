"""The gate: floors for our heuristics, on pages as they are and under other names (issue 5)."""
