"""Who may do what in Kafka: the list of rights, and the check of a worker at its start."""
