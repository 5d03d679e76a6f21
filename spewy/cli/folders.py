"""Where commands keep what they play, and what bots solve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def logs_folder(out: Path | None, name: str) -> Iterator[Path]:
    """Where logs are: one that stays, or one that goes.

    Raises:
        InputError: it cannot be made.
    """
    if out is not None:
        _make(out)
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


def _make(folder: Path) -> None:
    from spewy.errors import InputError, path_text
    from spewy.system.failures import failure_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if failure_text(error) is not None:
            raise
        raise InputError(
            f"folder {path_text(folder)}: expected one that is there or can be made, found: {error.strerror or error}"
        ) from None
