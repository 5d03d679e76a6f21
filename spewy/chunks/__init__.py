"""Divide a game into chunks: its boards up to suits, its betting rounds, its subgames and its locks."""
