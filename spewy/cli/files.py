"""Files that commands write, and the packages that this needs.

The name of a file and the packages are checked before the work; a file appears when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from spewy.cli.options import digits
from spewy.cli.tables import say

EXTRAS = {
    "pandas": "export",
    "openpyxl": "export",
    "pyarrow": "export",
    "matplotlib": "plot",
    "pyspiel": "higc",
    "starlette": "web",
    "uvicorn": "web",
}


def require(*packages: str) -> None:
    """Check that the Python packages that a command needs are installed.

    Raises:
        click.ClickException: A package is missing; the command exits with 1, since no input is wrong.
    """
    for package in packages:
        if find_spec(package) is None:
            raise click.ClickException(
                f"this command needs the package {package}, which is not installed "
                f"(pip install 'spewy[{EXTRAS[package]}]')"
            )


PICTURES = (".png", ".svg", ".pdf")
"""Suffixes of picture files."""


def check_file(file: Path, suffixes: Sequence[str]) -> str:
    """Check the name of an output file, and return its suffix.

    Raises:
        InputError: the file's name has another suffix, or its folder does not exist.
    """
    from spewy.errors import InputError, path_text, short

    suffix = file.suffix.lower()
    if suffix not in suffixes:
        names = " or ".join(suffixes)
        suffix_text = short(file.suffix) or "none"
        raise InputError(f"file {path_text(file)}: expected a name that ends in {names}, found {suffix_text}")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(f"file {path_text(file)}: expected a new or existing file in a folder that exists")
    return suffix


def table_writer(file: Path) -> Callable[[Any], None]:
    """Return a function that writes a pandas frame to a file, in the format of its suffix, and prints a message.

    The numbers are rounded to the decimals of the option ``--digits``.

    Raises:
        InputError: the suffix is not one of a table file, or the folder of the file does not exist.
        click.ClickException: a package that writes the format is not installed.
    """
    from spewy.look.table_files import PACKAGES, SUFFIXES, write_table

    suffix = check_file(file, (*SUFFIXES, ".json"))
    require(*PACKAGES.get(suffix, ("pandas",)))
    decimals = digits()

    def write(frame: Any) -> None:
        with appearing(file) as temporary:
            if suffix == ".json":
                exact = frame if decimals is None else frame.round(decimals)
                exact.to_json(temporary, orient="records", double_precision=15)
            else:
                write_table(temporary, suffix, [frame], decimals)
        say(f"table in {file}")

    return write


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``file`` at the end of the block, or is removed after an error.

    Raises:
        InputError: the file cannot be written.
    """
    from spewy.errors import InputError, path_text

    temporary = file.with_name(f".{file.stem}.{os.getpid()}.tmp{file.suffix}")
    try:
        yield temporary
        temporary.replace(file)
    except OSError as error:
        raise InputError(f"file {path_text(file)} cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def line_writer(file: Path | None, add: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to a file.

    Args:
        file: the file; None: the function does nothing.
        add: whether to append to an existing file instead of replacing it.

    Raises:
        InputError: the file cannot be written.
    """
    from spewy.errors import InputError, path_text
    from spewy.system.failures import failure_text

    if file is None:
        yield lambda text: None
        return
    try:
        opened = file.open("a" if add else "w", encoding="ascii", errors="backslashreplace", buffering=1)
    except (OSError, ValueError) as error:
        if failure_text(error) is not None:
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"file {path_text(file)} cannot be written: {reason}") from None
    with opened:
        yield lambda text: print(text, file=opened)


def check_picture(file: Path | None) -> None:
    """Check before the work that a picture can be drawn and written to a file; do nothing for None.

    Raises:
        InputError: the suffix is not one of a picture, or the folder of the file does not exist.
        click.ClickException: matplotlib is not installed.
    """
    if file is not None:
        check_file(file, PICTURES)
        require("matplotlib")
        draw_without_windows()


def draw_without_windows() -> None:
    """Make matplotlib ignore the user's MPLBACKEND, which may name no backend: pictures go into files."""
    os.environ["MPLBACKEND"] = "agg"


def draw(file: Path, figure: Any) -> None:
    """Write a figure of `spewy.plot` to a file, and print a message.

    Raises:
        InputError: the file cannot be written.
    """
    from spewy.plot import save

    with appearing(file) as temporary:
        save(figure, temporary)
    say(f"picture in {file}")
