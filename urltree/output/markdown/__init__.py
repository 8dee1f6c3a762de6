"""Markdown of a page's kept blocks: headings, lists, quotes, code and tables in their order.

    blocks, elements ──▶ places: what each block is, and what it stands in
                           └──▶ writing: runs of blocks as Markdown ──▶ str
                                  escaping: no text becomes markup

CommonMark 0.31, and GitHub's pipe tables. Emphasis and links leave no trace in blocks, so there are
none; terms of a definition list are strong, captions emphasised.
"""

from urltree.output.markdown.writing import markdown

__all__ = ["markdown"]
