"""HTML: encoding, parser, element tables, the text blocks and the head of a page."""
