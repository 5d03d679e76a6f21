"""Pictures that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spewy.cli.files import appearing
from spewy.cli.progress import say


def draw(file: Path, figure: Any) -> None:
    """Write a figure of `spewy.plot`, and say so.

    Raises:
        InputError: the file cannot be written.
    """
    from spewy.plot import save

    with appearing(file) as temporary:
        save(figure, temporary)
    say(f"picture in {file}")
