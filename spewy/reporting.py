"""Reporters that cannot end what they report of."""

from __future__ import annotations

import logging
from typing import Any, TypeVar, cast

Reporter = TypeVar("Reporter")
_LOG = logging.getLogger(__name__)


def unfailing(reporter: Reporter) -> Reporter:
    """The same reporter, silent from the moment on when one of its methods raises; the log tells why.

    Nothing is logged of a pipe that nobody reads any more: who closed it knows.
    """
    return cast(Reporter, _Unfailing(reporter))


class _Unfailing:
    def __init__(self, reporter: object) -> None:
        self._reporter: object | None = reporter

    def __getattr__(self, name: str) -> Any:
        def tell(*args: Any) -> None:
            if self._reporter is None:
                return
            try:
                getattr(self._reporter, name)(*args)
            except BrokenPipeError:
                self._reporter = None
            except Exception as error:
                self._reporter = None
                _LOG.warning("progress is told no more: %s: %s", type(error).__name__, error)

        return tell
