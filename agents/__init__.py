"""The job around Kafka: it moves data and decides nothing."""
