"""One HTTP request at a time, bounded in time and bytes, to public addresses only."""
