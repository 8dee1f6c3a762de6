"""Rules of the operator: which addresses are denied, and which waiting pages are removed."""
