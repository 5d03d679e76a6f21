"""Distinguish failures of the machine from bad input: full or broken disks, too many open files, lack of memory.

This module compares errors by the names of their classes and imports nothing of the house, so that ``--help`` stays
fast, and so that it works when no more files can be opened.
"""

from __future__ import annotations

import errno
import resource

_FAILURES = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO),
}
_NO_SPACE = ("failed to map segment", "cannot map zero-fill pages", "cannot allocate")
"""Messages of the dynamic loader when a library finds no address space; such errors have no number."""
_NAMED = (
    "lockers.errors.StorageError",
    "spewy.errors.MissingError",
    "spewy.errors.SolveError",
    "spewy.errors.PeerError",
    "builtins.ChildProcessError",
)


def failure_text(error: BaseException) -> str | None:
    """Return the message of an error caused by a failure of the machine; None for other errors."""
    if is_a(error, *_NAMED):
        return str(error)
    if _wants_memory(error):
        return f"memory: expected as much as the work needs, found no more: {str(error) or 'out of memory'}"
    if isinstance(error, OSError):
        if error.errno not in _FAILURES:
            return None
        subject = error.filename or "the operating system"
        return f"{subject}: expected room, memory and files to open, found: {error.strerror or error}"
    cause = error.__cause__ or error.__context__
    return str(error) if cause is not None and failure_text(cause) is not None else None


def _wants_memory(error: BaseException) -> bool:
    """Whether memory ran out, or address space for a thread or library (``ulimit -v``)."""
    if is_a(error, "builtins.RuntimeError") and str(error) == "can't start new thread":
        return True
    loading = is_a(error, "builtins.ImportError") or (isinstance(error, OSError) and error.errno is None)
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return is_a(error, "builtins.MemoryError") or (loading and limited and _has_no_space(error))


def _has_no_space(error: BaseException) -> bool:
    """Whether the dynamic loader found no address space, by the messages of an error and its causes."""
    cause = error.__cause__ or error.__context__
    told = any(text in str(error).lower() for text in _NO_SPACE)
    return told or (cause is not None and _has_no_space(cause))


def is_a(error: BaseException, *names: str) -> bool:
    """Whether the class of an error, or one of its bases, has one of these names.

    >>> is_a(KeyError(), "builtins.LookupError"), is_a(KeyError(), "builtins.OSError")
    (True, False)
    """
    return any(f"{kind.__module__}.{kind.__qualname__}" in names for kind in type(error).__mro__)
