"""HTML: encoding, parser, elements, and the text blocks of a page."""
