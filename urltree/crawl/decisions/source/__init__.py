"""Sources beside feeds: sitemaps (sitemaps.org) and section pages, and what kind an address has."""
