"""Distinguishes failures of the machine from bad input: full or broken disks, too many open files, lack of memory.

This module recognises errors by the names of their classes and imports no other module of this program. So ``--help``
stays fast, and the module works even if no more files can be opened.
"""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator

_FAILURES = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO),
}
"""Numbers of `OSError` that stand for a failure of the machine."""
_NO_SPACE = ("failed to map segment", "cannot map zero-fill pages", "cannot allocate")
"""Texts in messages of the dynamic loader if memory runs out while it loads a library; these errors have no number."""
_NAMED = (
    "lockers.errors.StorageError",
    "spewy.errors.MissingError",
    "spewy.errors.SolveError",
    "spewy.errors.PeerError",
    "builtins.ChildProcessError",
)
"""Classes of errors that always stand for a failure."""


def failure_text(error: BaseException) -> str | None:
    """Return the message of an error that a failure of the machine has caused; None for all other errors."""
    for cause in _chain(error):
        text = _own_text(cause)
        if text is not None:
            return text if cause is error else str(error)
        if isinstance(cause, OSError):
            return None
    return None


def _own_text(error: BaseException) -> str | None:
    """Return the message of an error that reports a failure of the machine, without a look at its causes; else None."""
    if is_a(error, *_NAMED):
        return str(error)
    if _wants_memory(error):
        return f"memory: there is not enough for this work ({str(error) or 'out of memory'})"
    if isinstance(error, OSError) and error.errno in _FAILURES:
        subject = error.filename or "the operating system"
        return f"{subject}: the machine lacks space, memory or open files ({error.strerror or error})"
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of the cause, and so on, each of them once."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _wants_memory(error: BaseException) -> bool:
    """Whether an error means that memory, or address space for a thread or library (``ulimit -v``), ran out."""
    if is_a(error, "builtins.RuntimeError") and str(error) == "can't start new thread":
        return True
    loading = is_a(error, "builtins.ImportError") or (isinstance(error, OSError) and error.errno is None)
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return is_a(error, "builtins.MemoryError") or (loading and limited and _has_no_space(error))


def _has_no_space(error: BaseException) -> bool:
    """Whether an error, or an error that caused it, says that the dynamic loader found no memory."""
    return any(text in str(cause).lower() for cause in _chain(error) for text in _NO_SPACE)


def is_a(error: BaseException, *names: str) -> bool:
    """Whether the class of an error, or one of its base classes, has one of the given names.

    >>> is_a(KeyError(), "builtins.LookupError"), is_a(KeyError(), "builtins.OSError")
    (True, False)
    """
    return any(f"{kind.__module__}.{kind.__qualname__}" in names for kind in type(error).__mro__)
