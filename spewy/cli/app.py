"""The ``spewy`` command, and what errors become: one line on stderr and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted with everything saved. Command modules import numpy, numba
and the solver only when a command runs, which keeps ``--help`` fast.
"""

from __future__ import annotations

from typing import Any

import click

from spewy import __version__
from spewy.cli.batch import INTERRUPTED
from spewy.cli.buckets import buckets
from spewy.cli.check import check
from spewy.cli.drop import drop
from spewy.cli.estimate import estimate
from spewy.cli.exploit import exploit
from spewy.cli.export import export
from spewy.cli.options import is_verbose, verbose_option
from spewy.cli.report import report
from spewy.cli.show import show
from spewy.cli.solve import solve
from spewy.cli.tree import tree


class OneLine(click.ClickException):
    """An error that is told in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class BadInput(OneLine):
    """Something from outside is not as it has to be."""

    exit_code = 2


class Failed(OneLine):
    """Something here is not as it has to be."""

    exit_code = 1


class Commands(click.Group):
    """A group that turns what its commands raise into lines and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click tells these itself, a closed pipe quietly
        except KeyboardInterrupt:
            click.echo("\ninterrupted; everything that was saved is kept", err=True)
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if _is_bad_input(error):
                raise BadInput(str(error)) from None
            if is_verbose():
                raise
            told = f"unexpected {type(error).__name__}: {error} (spewy -v ... shows where)"
            raise Failed(told) from None


def _is_bad_input(error: Exception) -> bool:
    from buckets.errors import BucketError
    from lockers.errors import LockerError
    from solvers.errors import SolverError
    from spewy.errors import SpewyError

    return isinstance(error, (SpewyError, LockerError, BucketError, SolverError))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="spewy %(version)s")
@verbose_option
def main() -> None:
    """Solve heads-up poker range against range, chunk by chunk, and look at what was solved.

    \b
    Examples:
      spewy estimate examples/T1.toml        what it will cost
      spewy solve examples/T1.toml           solve it, or go on where it stopped
      spewy show results/T1                  strategy, reach, EV and equity by hand
      spewy report results/T1 --line cc/     both ranges on every next card
      spewy export results/T1 T1.parquet     the same as show for every decision

    Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted
    with everything saved.
    """  # noqa: D301


COMMANDS: tuple[click.Command, ...] = (
    solve,
    show,
    report,
    exploit,
    tree,
    estimate,
    export,
    drop,
    buckets,
    check,
)

for _command in COMMANDS:
    main.add_command(_command)
