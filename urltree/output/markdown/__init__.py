"""Markdown of a page's content blocks: headings, lists, quotes, code and tables in their order.

    blocks, elements ──▶ structure: the type of each block, and its lists, quotes and tables
                           └──▶ writing: runs of blocks as Markdown ──▶ str
                                  escaping: text is never read as markup

CommonMark 0.31, and GitHub's pipe tables. Blocks do not store emphasis and links, so the output has
neither, except that terms of a definition list are strong and captions are emphasised.
"""

from urltree.output.markdown.writing import markdown

__all__ = ["markdown"]
