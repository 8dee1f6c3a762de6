"""Optional enrichment of a document: metadata, and the opinion of a single-page extractor."""
