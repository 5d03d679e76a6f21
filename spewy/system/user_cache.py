"""The user's cache: stores in it save time and may be deleted at any time."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path

from lockers import FORMAT


def user_cache(name: str) -> Path | None:
    """Return the folder of a store in the user's cache; None for a user without a home.

    The folder's name ends with the lockers' format version, so that another version of the program has its own store.
    """
    try:
        path = user_cache_path("spewy") / f"{name}-{FORMAT}"
    except RuntimeError:
        return None
    return path if path.is_absolute() else None
