"""A site: what is stored of its pages, and the tree and window that are built from it."""
