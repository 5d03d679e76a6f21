"""Run the main function of a benchmark as a command: bad input ends it with one line and exit code 2."""

import sys
from collections.abc import Callable

from spewy.cli.app import BAD_INPUT
from spewy.errors import one_line
from spewy.system.failures import is_a
from spewy.system.interrupts import INTERRUPTED


def as_command(main: Callable[[], int | None]) -> None:
    """Run a main function, and exit with its result: None is 0. Interrupted commands exit with 130."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if not is_a(error, *BAD_INPUT):
            raise
        print(f"Error: {one_line(str(error))}", file=sys.stderr)
        sys.exit(2)
