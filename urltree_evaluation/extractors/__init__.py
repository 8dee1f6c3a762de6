"""The extractors to measure, one module for each tool. registry.py explains how to add a tool."""
