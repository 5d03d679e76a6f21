"""Run the main function of a benchmark as a command: expected errors end it with one line and an exit code.

The exit codes are those of `spewy`: 0 done, 1 failed, 2 bad input, 130 interrupted.
"""

import sys
from collections.abc import Callable

from spewy.cli.app import BAD_INPUT
from spewy.errors import one_line
from spewy.system.failures import failure_text, is_a
from spewy.system.interrupts import INTERRUPTED


def as_command(main: Callable[[], int | None]) -> None:
    """Run a main function, and exit with its result; None is 0. Unexpected errors keep their traceback."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        failed = failure_text(error)
        if failed is None and not is_a(error, *BAD_INPUT):
            raise
        print(f"Error: {one_line(failed or str(error))}", file=sys.stderr)
        sys.exit(2 if failed is None else 1)
