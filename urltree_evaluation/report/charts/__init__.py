"""One module for each chart, from plain numbers to a figure; nothing here reads files."""
