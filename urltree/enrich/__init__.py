"""Optional additions to a document: metadata, and the result of a single-page extractor."""
