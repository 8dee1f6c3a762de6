"""What an operator types: `python -m agents …`, one file a command."""
