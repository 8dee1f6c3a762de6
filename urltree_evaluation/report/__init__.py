"""The report: one static page with charts, and the same tables as Markdown and CSV."""

from urltree_evaluation.report.page import write_report

__all__ = ["write_report"]
