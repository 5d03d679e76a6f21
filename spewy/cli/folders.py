"""Where commands keep what they play, and what bots solve."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

BOTS = "bots.json"
"""Beside the logs: what each bot's name stands for."""


@contextmanager
def logs_folder(out: Path | None, name: str, bots: Mapping[str, str]) -> Iterator[Path]:
    """Where logs are: one that stays, or one that goes.

    A folder that stays is one command's at a time, as two would write into each other's logs, and remembers what the
    names of its bots stand for: logs know names alone, and hands of one bot are no score of another.

    Args:
        out: the folder that stays; None: one that goes.
        name: of one that goes.
        bots: by their names: what they are.

    Raises:
        InputError: it cannot be made, another process plays in it, or a bot of its logs was another one.
    """
    if out is not None:
        from spewy.system.folder_lock import FolderLock

        with FolderLock(out, name), _remembered(out, bots):
            yield out
        return
    with TemporaryDirectory(prefix=f"spewy-{name}-") as folder:
        yield Path(folder)


def solved_folder(given: Path | None) -> Path:
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


@contextmanager
def _remembered(folder: Path, bots: Mapping[str, str]) -> Iterator[None]:
    """Compare bots with those that were here; what fails before it has played is not remembered."""
    from spewy.errors import InputError, path_text, shown

    file = folder / BOTS
    known = _read(file)
    for name, bot in bots.items():
        if known.get(name, bot) != bot:
            raise InputError(
                f"folder {path_text(folder)}: expected logs of {shown(bot)} as {name}, "
                f"found those of {shown(known[name])}; other bots need another folder"
            )
    _write(file, {**known, **bots})
    try:
        yield
    except Exception:
        with suppress(Exception):
            _write(file, known)
        raise


def _read(file: Path) -> dict[str, str]:
    from spewy.errors import InputError, path_text
    from spewy.system.textfile import exists, read_text

    subject = f"file {path_text(file)}"
    if not exists(file):
        return {}
    try:
        found = json.loads(read_text(file, subject))
        return {str(name): str(bot) for name, bot in found.items()}
    except (ValueError, AttributeError, RecursionError):
        raise InputError(f"{subject}: expected names of bots and what they are, found otherwise") from None


def _write(file: Path, bots: Mapping[str, str]) -> None:
    from spewy.system.textfile import replace_text

    if not bots:
        file.unlink(missing_ok=True)
    elif bots != _read(file):
        replace_text(file, json.dumps(bots, indent=2) + "\n")
