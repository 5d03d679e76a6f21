"""Ends ``make links`` with one line: how many links to other sites work, or that this machine has no network."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

FAILED = ("broken", "timeout")
log = logging.getLogger(__name__)


def summary(links: Iterable[dict[str, Any]]) -> tuple[str, bool]:
    """Summarise what the builder ``linkcheck`` wrote about each link.

    Args:
        links: the objects of its file ``output.json``; links to files of the site do not count.

    Returns:
        The line, and whether all links work.
    """
    failed = {link["uri"]: link["status"] in FAILED for link in links if link["uri"].startswith("http")}
    if not any(failed.values()):
        return f"links: all {len(failed)} links to other sites work", True
    if all(failed.values()):
        return (
            f"links: none of the {len(failed)} links to other sites answers, so this machine is probably offline; "
            "run make links again when it is online"
        ), False
    broken = [uri for uri, bad in failed.items() if bad]
    return (
        f"links: {len(broken)} of {len(failed)} links to other sites are broken: {', '.join(broken)}",
        False,
    )


def summarise(app: Sphinx, exception: Exception | None) -> None:
    """Log the line after a check of links."""
    if app.builder.name == "linkcheck" and exception is None:
        lines = (Path(app.outdir) / "output.json").read_text().splitlines()
        text, fine = summary(json.loads(line) for line in lines)
        (log.info if fine else log.warning)(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the summary."""
    app.connect("build-finished", summarise)
    return {"parallel_read_safe": True}
