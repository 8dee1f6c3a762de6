"""Telemetry of a worker: logs, metrics, and health probes."""
