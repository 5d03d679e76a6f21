"""Start time of the command line; imported before anything that takes time."""

import time

STARTED = time.perf_counter()
