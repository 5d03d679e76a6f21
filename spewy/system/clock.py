"""Upper bound on waiting times."""

MOST_SECONDS = 1e9
"""Thirty years in seconds; the system's timers refuse three hundred years."""
