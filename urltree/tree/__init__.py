"""The URL tree of a site, the window of its documents, and its statistics by element path."""
