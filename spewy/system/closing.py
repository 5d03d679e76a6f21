"""Base class of objects that a ``with`` block closes at its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """An object with a method `close`, which may be called more than once."""

    @abstractmethod
    def close(self) -> None:
        """Release the files and the memory of the object."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Call `close`."""
        self.close()
