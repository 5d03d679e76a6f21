"""Reads from a job file, before the batch is read, whether it lists boards; names the folder of its solve."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from spewy.job.load import read_job


def lists_boards(file: str | Path, overrides: Sequence[str] = ()) -> bool:
    """Whether a job file has the key ``spot.boards``, and so gives several jobs.

    Raises:
        InputError: the file cannot be read.
    """
    spot = read_job(file, overrides).get("spot")
    return isinstance(spot, dict) and "boards" in spot


def folder_name(name: str) -> str:
    """Turn the name of a job into the name of a folder, which cannot lead out of its parent folder.

    >>> folder_name("Rhode Island"), folder_name("../T1"), folder_name("..")
    ('Rhode Island', '-T1', 'job')
    """
    return re.sub(r"[/\\\0]", "-", name).strip(". ") or "job"
