"""Clean text from whole web sites: what recurs on a branch of a site is boilerplate."""
