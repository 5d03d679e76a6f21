"""Record the start time of the command line, before slow imports."""

import time

STARTED = time.perf_counter()
