"""Locates stores of lockers in the user's cache folder, which save time and may be deleted at any time."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path

from lockers import FORMAT


def user_cache(name: str) -> Path | None:
    """Return the path of a store in the user's cache folder; None for a user without a home folder.

    The path ends with the version of the lockers' format, so that versions of this program with different formats use
    different stores.
    """
    try:
        path = user_cache_path("spewy") / f"{name}-{FORMAT}"
    except RuntimeError:
        return None
    return path if path.is_absolute() else None
