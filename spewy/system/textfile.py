"""Read paths and text files from outside; only regular files are accepted, since a pipe could block for ever."""

from __future__ import annotations

import os
import stat
from os import PathLike
from pathlib import Path

from spewy.errors import InputError, path_text, shown

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def as_path(given: object, subject: str) -> Path:
    """Convert an argument to a path.

    Raises:
        InputError: it is none.
    """
    if not isinstance(given, str | PathLike):
        raise InputError(f"{subject}: expected a path, found {shown(given)}")
    return Path(given)


def read_text(path: Path, subject: str) -> str:
    """Read the text of a regular file.

    Args:
        path: of the file.
        subject: of messages.

    Raises:
        InputError: it is none, or cannot be read.
    """
    try:
        require_regular(path, subject)
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # a null character in a path is a ValueError
        raise InputError(f"{subject}: expected a readable text file, found: {_reason(error)}") from None


def require_regular(path: Path, subject: str) -> None:
    """Refuse a path that is not a regular file.

    Raises:
        InputError: the path is a folder, a pipe or the like.
        OSError: nothing has this path, or it may not be looked at.
    """
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise InputError(f"{subject}: expected a regular file, found {KINDS.get(kind, 'something else')}")


def exists(path: Path) -> bool:
    """Whether a path exists; False for text that cannot be a path."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _reason(error: OSError | ValueError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def replace_text(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees either the old text or the new text.

    Raises:
        InputError: something else is there, or nobody may write there; or, caused by an `OSError`, there is no room.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"file {path_text(path)}: expected a file that can be written, found: {_reason(error)}"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
