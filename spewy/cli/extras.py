"""Packages that only some commands need, and the extras of the distribution that bring them."""

from __future__ import annotations

from importlib.util import find_spec

import click

EXTRAS = {"pandas": "export", "pyarrow": "export", "matplotlib": "plot", "pyspiel": "higc"}


def require(*packages: str) -> None:
    """Make sure before the work that packages are there.

    Raises:
        click.ClickException: one is not; the command line exits with 1, since no input is wrong.
    """
    for package in packages:
        if find_spec(package) is None:
            raise click.ClickException(
                f"package {package}: expected to be installed for this command, found none "
                f"(pip install 'spewy[{EXTRAS[package]}]')"
            )
