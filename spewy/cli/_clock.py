"""When the command line began; imported before anything that takes time."""

import time

STARTED = time.perf_counter()
