"""Loads the public names of a package at their first use (PEP 562), so that importing the package is fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Make the function ``__getattr__`` of a package.

    Args:
        package: name of the package.
        modules: for each public name, the module of the package that defines the name. An empty text means that the
            public name is itself a module.
    """

    def load(name: str) -> object:
        """Import the module that defines a public name, and return the named object."""
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not modules[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return load
