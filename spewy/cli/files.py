"""Files that commands write, and the packages that are needed to write them.

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
    "httpx": "slumbot",
    "starlette": "web",
    "uvicorn": "web",
}
PICTURES = (".png", ".svg", ".pdf")
"""Suffixes of picture files."""
TableWriter = Callable[[Callable[[], Any]], None]
"""Function that writes a table; its argument makes the table, a pandas frame, and is called only if there is a file."""


def require(*packages: str) -> None:
    """Exit with code 1 if a package is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise click.ClickException(
                f"this command needs the package {package}, which is not installed "
                f"(pip install 'spewy[{EXTRAS[package]}]')"
            )


def check_file(file: Path, suffixes: Sequence[str]) -> str:
    """Check the name of an output file, and return its suffix in lower case."""
    from spewy.errors import InputError, path_text, short

    suffix = file.suffix.lower()
    if suffix not in suffixes:
        names = " or ".join(suffixes)
        suffix_text = short(file.suffix) or "none"
        raise InputError(f"file {path_text(file)}: expected a name that ends in {names}, found {suffix_text}")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(f"file {path_text(file)}: expected a new or existing file in a folder that exists")
    return suffix


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``file`` at the end of the block, or is removed after an error."""
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
    """Yield a function that writes a line to a file, or does nothing for None; ``add`` appends to an existing file."""
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


def table_writer(file: Path | None) -> TableWriter:
    """Check the name of a table file, and return a function that writes the file; it does nothing if ``file`` is None.

    The returned function's argument makes the table, a pandas frame.
    """
    if file is None:
        return lambda make: None
    from spewy.look.table_files import PACKAGES, SUFFIXES, write_table

    suffix = check_file(file, (*SUFFIXES, ".json"))
    require(*PACKAGES.get(suffix, ("pandas",)))
    decimals = digits()

    def write(make: Callable[[], Any]) -> None:
        frame = make()
        with appearing(file) as temporary:
            if suffix == ".json":
                exact = frame if decimals is None else frame.round(decimals)
                exact.to_json(temporary, orient="records", double_precision=15)
            else:
                write_table(temporary, suffix, [frame], decimals)
        say(f"table in {file}")

    return write


def check_picture(file: Path | None) -> None:
    if file is not None:
        check_file(file, PICTURES)
        require("matplotlib")
        draw_without_windows()


def draw_without_windows() -> None:
    """Make matplotlib ignore MPLBACKEND, which may name no backend or one with windows."""
    os.environ["MPLBACKEND"] = "agg"


def draw(file: Path, figure: Any) -> None:
    from spewy.plot import save

    with appearing(file) as temporary:
        save(figure, temporary)
    say(f"picture in {file}")
