# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped,misc"
"""Cache of machine code in the user's cache folder, in a subfolder named after a hash of the sources.

Numba's own cache keeps machine code beside each source file and notices changes of that file only, though kernels call
kernels in other files. Here the name of the subfolder depends on all files of a package. So changed sources never run
old code, every copy of the same sources shares one subfolder, and nothing is written where the packages are installed.

The cache folder is ``$SPEWY_KERNELS``, by default ``kernels`` in Spewy's cache folder; it may be deleted at any time.
If it cannot be written, every process compiles the functions whose machine code is missing.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.runtime.nrt import rtsys
from platformdirs import user_cache_path

VARIABLE = "SPEWY_KERNELS"
UNUSED_DAYS = 60
"""Number of days after which a folder of machine code that no process has used is deleted."""

_log = logging.getLogger("compiled")


@cache
def folder(package: Path) -> Path:
    """Folder for the machine code of a package's functions; it is created if possible.

    Args:
        package: the folder of the package's sources.
    """
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {llvmlite.__version__}".encode())
    for sources in (Path(__file__).parent, package):
        for source in sorted(sources.rglob("*.py")):
            digest.update(source.read_bytes())
    root = _root()
    path = root / f"{package.name}-{digest.hexdigest()[:16]}"
    with suppress(OSError):
        if not path.exists():
            path.mkdir(parents=True)
            _remove_unused(root)
        os.utime(path)
    return path


def _root() -> Path:
    """Folder of all packages' machine code.

    If the user has no home folder, the result is a path that cannot be created.
    """
    if above := os.environ.get(VARIABLE):
        return Path(above)
    try:
        return user_cache_path("spewy") / "kernels"
    except RuntimeError:
        return Path(os.devnull) / "kernels"


def stamp(package: Path, name: str) -> Path:
    """Path of a file that exists once a named set of the package's functions is compiled for this processor."""
    return folder(package) / f"ready-{name}-{_processor()}"


@cache
def _processor() -> str:
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    processor = f"{get_host_cpu_name()} {get_host_cpu_features().flatten()}"
    return hashlib.sha256(processor.encode()).hexdigest()[:8]


def _remove_unused(root: Path) -> None:
    """Delete the folders in ``root`` that no process has used for `UNUSED_DAYS` days."""
    for other in root.iterdir():
        if other.is_dir() and time.time() - other.stat().st_mtime > UNUSED_DAYS * 86400:
            shutil.rmtree(other, ignore_errors=True)


class _Locator(_CacheLocator):
    """Tells Numba in which folder to cache the machine code of a function."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno
        module = function.__module__
        package = Path(file).parents[module.count(".") - 1] if "." in module else Path(file)
        self._folder = folder(package)
        self._module = module.replace(".", "-")

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return f"{self._module}-{self._line}"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Self:
        return cls(function, file)


class _Files(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - Numba expects a list


class Cache(FunctionCache):
    """Numba's cache of one function's machine code, in the folder that `folder` returns."""

    _impl_class = _Files

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Load the function's machine code for given argument types; None if the function must be compiled.

        Numba's own method first imports the support of every type that Numba can compile. That takes half a second, and
        only compiling needs it.
        """
        loaded = None
        try:
            rtsys.initialize(target)
            loaded = self._load_overload(signature, target)
        except OSError as error:
            _log.debug("machine code of %s cannot be read: %s", self._name, error)
        except Exception as error:  # reading a damaged pickle may raise any error
            _log.warning("machine code of %s is damaged; compiling it again: %r", self._name, error)
            with suppress(OSError):
                self.flush()
        if loaded is None:
            target.refresh()
            _log.info("compiling %s", self._name)
        return loaded

    def save_overload(self, *compiled: Any) -> None:
        """Save compiled machine code if the folder is writable."""
        try:
            super().save_overload(*compiled)
        except OSError as error:
            _log.debug("machine code of %s cannot be saved: %s", self._name, error)
