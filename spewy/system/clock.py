"""How long anything may be waited for."""

MOST_SECONDS = 1e9
"""Thirty years; the timers of the system refuse three hundred."""
