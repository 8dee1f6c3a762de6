"""An HTTP client that sends single requests, only to public addresses, and limits time and size."""
