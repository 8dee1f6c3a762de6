"""A demonstration of the job: an embedded Kafka, a sample of web sites, and a live view."""
