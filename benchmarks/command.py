"""Run the main function of a benchmark as a command: expected errors end it with one line and an exit code.

The exit codes are those of `spewy`: 0 done, 1 failed, 2 bad input, 130 interrupted.
"""

import sys
from collections.abc import Callable

from spewy.cli.app import expected
from spewy.system.interrupts import INTERRUPTED


def as_command(main: Callable[[], int | None]) -> None:
    """Run a main function, and exit with its result; None is 0. Unexpected errors keep their traceback."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        known.show()
        sys.exit(known.exit_code)
