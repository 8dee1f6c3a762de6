"""The session of a worker with its group: when Kafka answered last, and who has the instance id."""
