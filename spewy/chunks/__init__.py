"""Public states, boards up to suits, betting rounds, chunks."""
