"""Stores in a folder beside the solve's store, verified before they are written to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lockers import Store, open_store


def sound_store(folder: Path, manifest: Mapping[str, Any]) -> Store:
    """Open a store whose structure bears to be written to; make it where there is none.

    Raises:
        lockers.LockerError: what is there is another job's, or damaged.
    """
    store = open_store(folder, manifest)
    try:
        store.require_sound()
    except BaseException:
        store.close()
        raise
    return store
