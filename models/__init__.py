"""The wire: one file a record, JSON by orjson, published as JSON Schema in `schemas/`."""
