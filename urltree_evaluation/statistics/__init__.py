"""Statistics: means over many pages and domains, with their uncertainty."""
