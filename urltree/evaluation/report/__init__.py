"""The report: one HTML page, Markdown and CSV."""
