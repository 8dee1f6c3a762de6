"""Where a request connects to: the addresses of a host, their limits, and the proxy."""
