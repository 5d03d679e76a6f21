# mypy: disable-error-code="untyped-decorator,no-untyped-call,import-untyped,misc"
"""Decorators that compile functions with Numba, and the cache of their machine code; mypy still sees the types.

Numba's own cache keeps machine code beside each source file and notices changes of that file only, though kernels call
kernels in other files. Here machine code lies in the user's cache folder, in a subfolder named after a hash of all
sources of a package. So changed sources never run old code, every copy of the same sources shares one subfolder, and
nothing is written where the packages are installed.

The cache folder is ``$SPEWY_KERNELS``, by default ``kernels`` in Spewy's cache folder; it may be deleted at any time.
If it cannot be written, every process compiles the functions whose machine code is missing.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Self, TypeVar, cast, overload

import llvmlite
import numba
from numba._dynfunc import make_function
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime.nrt import rtsys
from platformdirs import user_cache_path

F = TypeVar("F", bound=Callable[..., Any])

VARIABLE = "SPEWY_KERNELS"
UNUSED_DAYS = 60
"""Number of days after which a folder of machine code that no process has used is deleted."""

_log = logging.getLogger("compiled")
_njit: Any = numba.njit  # its type hints lack some options


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(function: F | None = None, **options: Any) -> F | Callable[[F], F]:
    """Compile a function with Numba; its machine code is cached on disk, and calls release the interpreter lock.

    Args:
        function: the function to compile; None if the decorator is used with options.
        options: further options of `numba.njit`, such as ``fastmath``.
    """
    if function is None:
        return partial(_compiled, **options)
    return _compiled(function, **options)


def inlined(function: F) -> F:
    """Compile a helper function that Numba always inlines into kernels, since a call would copy its tuples.

    Only compiled functions can call it. Errors that it raises may have constant arguments only.
    """
    return _within_kernels(function, forceinline=True)


def part(function: F) -> F:
    """Compile a large helper function as part of each kernel that calls it; LLVM chooses whether to inline it.

    Only compiled functions can call it. Errors that it raises may have constant arguments only.
    """
    return _within_kernels(function)


def _compiled(function: F, **options: Any) -> F:
    dispatcher = _njit(nogil=True, **options)(function)
    dispatcher._cache = Cache(function)  # njit(cache=True) sets Numba's own cache here
    return cast(F, dispatcher)


def _within_kernels(function: F, **options: Any) -> F:
    dispatcher = _njit(
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_HelperCompiler,
        **options,
    )(function)
    dispatcher.get_call_template = partial(_without_constants, dispatcher.get_call_template)
    return cast(F, dispatcher)


def _without_constants(
    version: Callable[..., Any], arguments: Sequence[types.Type], keywords: Mapping[str, types.Type]
) -> Any:
    """Find a helper function's version by Numba's method ``version``, with general types for constant arguments.

    A constant argument has a type of its own in Numba, which would compile a version for each combination of constants.
    One version for all is enough, since LLVM puts the constants into the code that it inlines.
    """
    named = {name: types.unliteral(each) for name, each in keywords.items()}
    return version([types.unliteral(each) for each in arguments], named)


class _Instructions(JITCodeLibrary):
    """LLVM instructions of a helper function, which become machine code only in the kernels that call it.

    An inlined function is optimised once by itself, before the kernels that have it are optimised, which makes kernels
    a little faster. Large helpers are not: that takes long, and was not found to make kernels faster.
    """

    inlined = False

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if self.inlined:
            self._optimize_final_module()
        self._finalized = True


class _HelperCompiler(Compiler):
    """Numba's compiler, which leaves a helper function as LLVM instructions. A call from Python raises a TypeError."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _Instructions(context.codegen(), function.__qualname__)
        self.state.library.inlined = self.state.flags.forceinline
        result = super().compile_extra(function)
        # Numba finds the instructions by this object; it usually calls machine code, and here raises a TypeError.
        module, kept = result.fndesc.lookup_module(), (result.library,)
        name = make_function(module, function.__name__, "", _bad_argument(), result.environment, kept)
        context.insert_user_function(name, result.fndesc, [result.library])
        return result._replace(entry_point=name)


def _bad_argument() -> int:
    """Address of a function of Python's C interface that raises a TypeError."""
    address = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value
    assert address is not None
    return address


@cache
def folder(package: Path) -> Path:
    """Folder for the machine code of a package's functions, given the folder of its sources; created if possible."""
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
    if above := os.environ.get(VARIABLE):
        return Path(above)
    try:
        return user_cache_path("spewy") / "kernels"
    except RuntimeError:
        return Path(os.devnull) / "kernels"  # no home folder: a path that cannot be created


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
        # Numba reads and replaces a function's index without a lock: of two processes that save at the same time, one
        # would lose its entry, or find the other's machine code under its own entry.
        try:
            with open(Path(self.cache_path) / "lock", "w") as lock:
                with suppress(OSError):  # some network file systems have no locks
                    fcntl.flock(lock, fcntl.LOCK_EX)
                super().save_overload(*compiled)
        except OSError as error:
            _log.debug("machine code of %s cannot be saved: %s", self._name, error)
