"""HTML: decoding, parsing, tables of tags, and the text blocks and metadata of a page."""
