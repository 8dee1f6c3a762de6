"""The headers of records that the job writes: their names, and their signature."""
