"""Files that commands write: names checked before the work, contents there only when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PICTURES = (".png", ".svg", ".pdf")


def check_file(file: Path, suffixes: Sequence[str]) -> str:
    """The file's suffix, one of ``suffixes``.

    Raises:
        InputError: another suffix, or no folder to put the file into.
    """
    from spewy.errors import InputError, path_text, short

    suffix = file.suffix.lower()
    if suffix not in suffixes:
        names = " or ".join(suffixes)
        found = short(file.suffix) or "none"
        raise InputError(f"file {path_text(file)}: expected a name that ends in {names}, found {found}")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(f"file {path_text(file)}: expected a file in a folder that exists, found none")
    return suffix


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """A path beside ``file``, with its suffix, that takes its name when all went well, and else goes away.

    Raises:
        InputError: the file cannot be written.
    """
    from spewy.errors import InputError

    temporary = file.with_name(f".{file.stem}.{os.getpid()}.tmp{file.suffix}")
    try:
        yield temporary
        temporary.replace(file)
    except OSError as error:
        raise InputError(
            f"file {file}: expected to be able to write it, found: {error.strerror or error}"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
