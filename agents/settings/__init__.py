"""Settings of the job, its topics, and the key schemes that they select."""
