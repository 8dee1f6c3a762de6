"""The job shown at work: an embedded Kafka, a sample of web sites, and a live view."""
