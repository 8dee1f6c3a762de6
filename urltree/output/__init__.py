"""Output: the extraction of a page, its Markdown, and the explanation of a verdict."""
