"""Folders for logs of matches, and for games that bots have solved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

BOTS = "bots.json"
"""File beside the logs that lists the word of each bot."""


@contextmanager
def logs_folder(out: Path | None, name: str, bots: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folder for a match's logs.

    A kept folder belongs to one command at a time, since two commands would write into each other's logs. It remembers
    the words of its bots: logs hold names only, and the hands of one bot are no score of another.

    Args:
        out: folder to keep; None: a temporary folder.
        name: name of the command, part of the temporary folder's name.
        bots: descriptions of the bots by name.

    Raises:
        InputError: the folder cannot be made, another process uses it, or a name belongs to another bot in its logs.
    """
    if out is not None:
        from spewy.system.folder_lock import FolderLock

        with FolderLock(out, name), _remembered(out, bots):
            yield out
        return
    from spewy.system.scratch import scratch_folder

    with scratch_folder(name) as folder:
        yield folder


def solved_folder(given: Path | None) -> Path:
    """Folder of solved games of the HIGC: the user's choice, or a folder in the user's cache.

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
    """Compare the bots with those recorded in the folder, and record new ones."""
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
