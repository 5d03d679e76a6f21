"""Work on a folder that may be read but not written, also where the tests run as root, who may write anywhere."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534

_CAPABILITIES = (1, 2)  # to write and to read whatever a file's mode says
_DROP_FROM_BOUNDING_SET = 24
_VERSION = 0x20080522


def without_rights(folder: Path, work: Callable[[], object]) -> None:
    """Do ``work`` while nothing below ``folder`` may be written: in a child of this process, if need be."""
    with read_only(folder):
        if os.getuid():
            work()
        else:
            _in_child(obey_modes, work)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away from everybody but root the right to write below ``folder``, while the block runs."""
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def obey_modes() -> None:
    """Make root an owner like any other, in this process and those that it starts: modes of files count."""
    if os.getuid():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: the low halves, then the high ones
    failed = [libc.prctl(_DROP_FROM_BOUNDING_SET, number, 0, 0, 0) for number in _CAPABILITIES]
    failed.append(libc.capget(header, sets))
    for place in range(3):
        sets[place] &= ~sum(1 << number for number in _CAPABILITIES)
    failed.append(libc.capset(header, sets))
    if any(failed):
        raise OSError(ctypes.get_errno(), "a process that keeps root's rights")


def as_nobody(folder: Path, work: Callable[[], object]) -> None:
    """Do ``work`` as nobody, in a child of this process that can reach ``folder``; only root may ask for that."""
    for path in folder.parents:
        if Path(tempfile.gettempdir()) in path.parents:
            path.chmod(0o755)

    def turn() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    _in_child(turn, work)


def listing(folder: Path) -> dict[str, tuple[int, ...]]:
    """Mode, owner, time and size of everything below a folder."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.stat()
        size = 0 if path.is_dir() else status.st_size
        found[str(path)] = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, size)
    return found


def _in_child(first: Callable[[], object], work: Callable[[], object]) -> None:
    process = multiprocessing.get_context("fork").Process(target=lambda: (first(), work()))
    process.start()
    process.join()
    assert process.exitcode == 0
