"""Sites: the stored records of their pages, and the tree and window built from these records."""
