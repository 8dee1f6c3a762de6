"""Record formats of the Kafka topics: one module for each topic, JSON by orjson.

`schemas/` holds the same formats as JSON Schema, generated from these modules.
"""
