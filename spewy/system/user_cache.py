"""Finds the user's cache, whose files save time and may be deleted at any time."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def user_cache(name: str) -> Path | None:
    """Return the folder of this name in the user's cache; None for a user without a home."""
    try:
        path = user_cache_path("spewy") / name
    except RuntimeError:
        return None
    return path if path.is_absolute() else None
