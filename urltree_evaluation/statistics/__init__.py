"""Statistics: figures over many pages and domains, with their uncertainty."""
