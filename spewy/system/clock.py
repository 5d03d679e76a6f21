"""The longest time that this program waits for anything."""

MOST_SECONDS = 1e9
"""Longest waiting time in seconds, about thirty years; timers of the operating system fail for ten times as long."""
