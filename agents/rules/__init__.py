"""The topic `rules`: commands write it, and the workers of poll and fetch follow it."""
