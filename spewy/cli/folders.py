"""The folder for the logs of a match, and the folder of solved games of the bot for the HIGC.

The HIGC is the Hidden Information Games Competition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

BOTS = "bots.json"
"""File beside the logs that maps the name of each bot to its description."""


@contextmanager
def logs_folder(out: Path | None, name: str, bots: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folder for a match's logs.

    A folder that the user names is locked, so that two commands cannot write to the same logs. It also stores a
    description of each bot, because logs hold names only: hands of another bot with an equal name must not be added.

    Args:
        out: folder that the user names; None: a temporary folder.
        name: name of the command, which holds the lock.
        bots: descriptions of the bots by name.

    Raises:
        InputError: the folder cannot be made, another process uses it, or it has logs of a bot that has the name of a
            bot in ``bots`` but another description.
    """
    if out is not None:
        from spewy.system.folder_lock import FolderLock

        with FolderLock(out, name), _remembered(out, bots):
            yield out
        return
    from spewy.system.scratch import scratch_folder

    with scratch_folder(name) as folder:
        yield folder


def solved_folder(chosen: Path | None) -> Path:
    """Folder of the games that the bot has solved for the Hidden Information Games Competition (HIGC).

    The folder is the user's choice, or else a folder in the user's cache.

    Raises:
        InputError: the user chose no folder, and has no home folder.
    """
    from spewy.errors import InputError
    from spewy.system.user_cache import user_cache

    folder = chosen or user_cache("higc")
    if folder is None:
        raise InputError("the user has no home folder for solved games; name a folder with --data")
    return folder


@contextmanager
def _remembered(folder: Path, bots: Mapping[str, str]) -> Iterator[None]:
    """Compare the bots with those in the folder's file of bots, and add new bots to the file.

    If the block fails, the file is restored.
    """
    from spewy.errors import InputError, path_text, shown

    file = folder / BOTS
    known = _read(file)
    for name, bot in bots.items():
        if known.get(name, bot) != bot:
            raise InputError(
                f"folder {path_text(folder)}: its logs are of {shown(known[name])} as {name}, and {name} is now "
                f"{shown(bot)}; use another folder"
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
        bots = json.loads(read_text(file, subject))
        return {str(name): str(bot) for name, bot in bots.items()}
    except (ValueError, AttributeError, RecursionError):
        raise InputError(
            f"{subject}: expected a JSON object with the names and descriptions of bots"
        ) from None


def _write(file: Path, bots: Mapping[str, str]) -> None:
    from spewy.system.textfile import replace_text

    if not bots:
        file.unlink(missing_ok=True)
    elif bots != _read(file):
        replace_text(file, json.dumps(bots, indent=2) + "\n")
