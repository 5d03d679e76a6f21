"""The chunked solve: chunks, play-down, visits and sweeps."""
