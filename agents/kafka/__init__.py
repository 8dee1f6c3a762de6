"""The way to Kafka: Faust and aiokafka, mended where they lose, stall or overtake records."""
