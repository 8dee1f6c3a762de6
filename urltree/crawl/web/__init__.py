"""An HTTP client for single requests, with limits on time and size, to public addresses only."""
