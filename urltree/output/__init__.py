"""Output of a judged page: the extraction, its Markdown, and the explanation of the verdict."""
