"""One module a chart: plain numbers in, a figure out; nothing here reads files."""
