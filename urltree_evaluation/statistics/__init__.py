"""Statistics: means over many pages and domains, with the uncertainty of each mean."""
