"""Packages that only some commands need, and the extra that installs each package."""

from __future__ import annotations

from importlib.util import find_spec

import click

EXTRAS = {"pandas": "export", "pyarrow": "export", "matplotlib": "plot", "pyspiel": "higc"}


def require(*packages: str) -> None:
    """Refuse to start a command whose packages are missing.

    Raises:
        click.ClickException: A package is missing; the command exits with 1, since no input is wrong.
    """
    for package in packages:
        if find_spec(package) is None:
            raise click.ClickException(
                f"package {package}: expected to be installed for this command, found none "
                f"(pip install 'spewy[{EXTRAS[package]}]')"
            )
