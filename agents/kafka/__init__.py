"""The connection to Kafka: Faust and aiokafka, with fixes for lost and stalled records."""
