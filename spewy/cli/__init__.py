"""The command line: results on stdout, progress on stderr."""

from spewy.cli._clock import STARTED
from spewy.cli.app import main

__all__ = ["STARTED", "main"]
