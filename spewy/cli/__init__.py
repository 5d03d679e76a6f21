"""The command line: results on stdout, progress on stderr."""

import time

STARTED = time.perf_counter()  # before the imports, which take most of the time of a short command

from spewy.cli.app import main  # noqa: E402

__all__ = ["STARTED", "main"]
