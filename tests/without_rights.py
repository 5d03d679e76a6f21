"""Work on a folder that may be read but not written, also where the tests run as root, who may write anywhere."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

NOBODY = 65534


def without_rights(folder: Path, work: Callable[[], object]) -> None:
    """Do ``work`` while nothing below ``folder`` may be written: as nobody, in a child of this process, if need be."""
    inside = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in inside}
    for path in inside:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if os.getuid():
            work()
        else:
            _as_nobody(folder, work)
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def _as_nobody(folder: Path, work: Callable[[], object]) -> None:
    for path in folder.parents:
        if Path(tempfile.gettempdir()) in path.parents:
            path.chmod(0o755)

    def child() -> None:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
