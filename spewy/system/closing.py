"""Base class of objects that are closed at the end of a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """An object whose `close` may be called more than once."""

    @abstractmethod
    def close(self) -> None:
        """Release files and memory."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close."""
        self.close()
