"""Pictures that commands write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from spewy.cli.extras import require
from spewy.cli.files import PICTURES, appearing, check_file
from spewy.cli.progress import say


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
