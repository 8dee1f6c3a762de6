"""Settings of the job, the declaration of its topics, and the URL key schemes they select."""
