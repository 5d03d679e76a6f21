"""Load public names of a package at first use (PEP 562), so that importing the package is fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a package.

    Args:
        package: name of the package.
        modules: by public name, the module below the package that defines it; an empty text for a module itself.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not modules[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return load
