"""Size and progress of a strategy locker, which each save of the strategies writes anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from lockers import Reads, Transaction
from spewy.errors import InputError
from spewy.records.keys import META, SAVED_KEY


@dataclass(frozen=True)
class Saved:
    """Size and progress of a strategy locker.

    Attributes:
        board_buckets: number of board buckets per round.
        rows: number of hand rows per round.
        deals: deals that the strategies average.
        saved_at: time of the last save, in seconds since 1970.
    """

    board_buckets: tuple[int, ...]
    rows: tuple[int, ...]
    deals: int
    saved_at: float

    def to_json(self) -> dict[str, Any]:
        """Return the size and the progress as the JSON object that the store holds."""
        return {
            "classes": self.board_buckets,
            "rows": self.rows,
            "deals": self.deals,
            "saved_at": self.saved_at,
        }


def read_saved(store: Reads) -> Saved:
    """Read the size and the progress of a strategy locker.

    Raises:
        InputError: nothing was saved yet.
    """
    saved = found_saved(store)
    if saved is None:
        raise InputError("strategy locker: nothing was saved yet")
    return saved


def found_saved(store: Reads) -> Saved | None:
    """Read the size and the progress of a strategy locker; None for a new store."""
    array = store.get(META, SAVED_KEY)
    if array is None:
        return None
    content = json.loads(array.tobytes())
    return Saved(tuple(content["classes"]), tuple(content["rows"]), content["deals"], content["saved_at"])


def saved_deals(store: Reads) -> int:
    """Return the number of deals that the strategies in a strategy locker average; 0 before the first save."""
    saved = found_saved(store)
    return 0 if saved is None else saved.deals


def put_saved(txn: Transaction, saved: Saved) -> None:
    """Store the size and the progress of a strategy locker."""
    content = json.dumps(saved.to_json()).encode()
    txn.put(META, SAVED_KEY, np.frombuffer(content, dtype=np.uint8))
