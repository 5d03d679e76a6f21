"""Python packages that only some commands need, and the extra of this distribution that installs each package."""

from __future__ import annotations

from importlib.util import find_spec

import click

EXTRAS = {
    "pandas": "export",
    "openpyxl": "export",
    "pyarrow": "export",
    "matplotlib": "plot",
    "pyspiel": "higc",
    "httpx": "slumbot",
    "starlette": "web",
    "uvicorn": "web",
}


def require(*packages: str) -> None:
    """Check that the Python packages that a command needs are installed.

    Raises:
        click.ClickException: A package is missing; the command exits with 1, since no input is wrong.
    """
    for package in packages:
        if find_spec(package) is None:
            raise click.ClickException(
                f"this command needs the package {package}, which is not installed "
                f"(pip install 'spewy[{EXTRAS[package]}]')"
            )
