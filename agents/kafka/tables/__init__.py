"""Tables in RocksDB on disk, restored from changelog topics in Kafka."""
