"""Markdown of a page's content blocks: headings, lists, quotes, code and tables.

    blocks, elements ──▶ structure: the type of each block, and its lists, quotes and tables
                           └──▶ writing: successive blocks as Markdown ──▶ str
                                  escaping: text is never read as markup

The output is CommonMark 0.31 with the pipe tables of GitHub. Blocks do not store emphasis and
links, so the output has no links. Only terms of definition lists are strong, and only captions are
emphasised.
"""

from urltree.output.markdown.writing import markdown

__all__ = ["markdown"]
