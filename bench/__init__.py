"""What the product costs, beside other extractors on the same pages: `make bench`."""
