"""The URL tree of a site, its window of documents, and statistics by element path."""
