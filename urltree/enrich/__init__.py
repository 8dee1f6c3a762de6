"""Optional enrichment of a document: metadata, and a single-page extractor as fallback."""
