"""Extractors to be measured: one module a tool. See registry.py for how to add one."""
