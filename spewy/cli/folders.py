"""Where commands keep what they play, and what bots solve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def logs_folder(out: Path | None, name: str) -> Iterator[Path]:
    """Where logs are: one that stays, or one that goes."""
    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix=f"spewy-{name}-") as folder:
        yield Path(folder)


def shelf_folder(given: Path | None) -> Path:
    """Where solved games of the HIGC are kept: a folder that was given, or one in the user's cache.

    Raises:
        InputError: the user has no home.
    """
    from spewy.errors import InputError
    from spewy.system.user_cache import user_cache

    found = given or user_cache("higc")
    if found is None:
        raise InputError("--data: expected a folder, as the user has no home, found none")
    return found
