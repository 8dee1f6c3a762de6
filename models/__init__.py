"""Record formats of the Kafka topics: one module for each topic.

The directory `schemas/` has JSON Schemas of these formats, which are generated from the modules.
"""
