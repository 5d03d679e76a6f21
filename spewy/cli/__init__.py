"""The command line: results go to stdout, progress and logs to stderr; see ``spewy --help``."""

from spewy.cli._clock import STARTED
from spewy.cli.app import main

__all__ = ["STARTED", "main"]
