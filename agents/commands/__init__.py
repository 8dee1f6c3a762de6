"""The operator commands: `python -m agents …`, one module or folder per command."""
