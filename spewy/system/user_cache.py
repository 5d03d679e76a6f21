"""Where a user's cache is: what lies there saves time and may be deleted at any time."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def user_cache(name: str) -> Path | None:
    """The folder of this name in the user's cache; None for a user without a home."""
    try:
        path = user_cache_path("spewy") / name
    except RuntimeError:
        return None
    return path if path.is_absolute() else None
