"""The longest time that this program waits for anything."""

MOST_SECONDS = 1e9
"""Longest waiting time in seconds, about thirty years; timers of the system fail for three hundred years."""
