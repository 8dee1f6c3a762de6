"""One module for each chart. It makes a figure from plain numbers and reads no files."""
