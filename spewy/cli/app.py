"""The ``spewy`` command: its groups of commands, and its errors, each one line on stderr with an exit code.

Exit codes: 0 done, 1 failed (the program failed, the disk is full, or too many files are open), 2 bad input, 130
interrupted with everything saved. A command's module is imported when the command is used, and imports numpy, numba
and the solver only when the command runs, which keeps ``--help`` fast.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import click

from spewy import __version__
from spewy.cli.options import is_verbose, verbose_option
from spewy.cli.tables import say
from spewy.errors import one_line, path_text, short
from spewy.system.failures import failure_text, is_a
from spewy.system.interrupts import INTERRUPTED

MOST_OF_LINE = 900
"""Largest number of characters in an error."""
MOST_OF_USAGE = 300
"""Largest number of characters in a usage error; click quotes a wrong argument in full, however long it is."""
BAD_INPUT = ("compiled.errors.SpewyError", "spewy.competitions.upac.runtime.tables.TablesError")
"""Errors that mean bad input, by full name, since their modules are not imported yet."""
BUG = "spewy.match.table.BotError"
"""Full name of the error for a bot's unexpected exception."""
DAMAGED = "lockers.errors.DamagedLockerError"


GROUPS: dict[str, dict[str, str]] = {
    "Solve": {
        "new": "jobs",
        "examples": "jobs",
        "schema": "jobs",
        "tree": "jobs",
        "estimate": "estimate",
        "sizes": "sizes",
        "solve": "solve",
        "status": "solve_folder",
        "exploit": "exploit",
    },
    "Look": {
        "serve": "serve",
        "upi": "upi",
        "show": "show",
        "report": "report",
        "compare": "compare",
        "evaluate": "compare",
        "export": "export",
        "buckets": "buckets",
        "flops": "buckets",
    },
    "Play": {"play": "play", "match": "match", "review": "review"},
    "Compete": {
        "dealer": "acpc",
        "referee": "higc",
        "upac-match": "upac",
        "tournament": "compete",
        "package": "compete",
    },
    "Files": {"check": "solve_folder", "drop": "solve_folder"},
}
"""Modules of the commands, by group and name, as ``spewy --help`` groups them."""


class Compiling(logging.Handler):
    """Log handler that prints a single message when functions are compiled."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._is_printed = False

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            say(record.getMessage())
        elif not self._is_printed:
            self._is_printed = True
            say("compiling functions, once: a few seconds up to half a minute")


class LazyGroup(click.Group):
    """A group of commands that imports the module of a command when the command is used.

    Args:
        places: module of `spewy.cli` that holds each command, by the command's name; ``module:function`` if the
            function has another name than the command.
    """

    def __init__(self, *args: Any, places: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # click suggests names that are similar to an unknown one from `commands`, which then needs all of them
        wanted = [cmd_name] if cmd_name in self._places else self.list_commands(ctx)
        for name in wanted:
            if name not in self.commands:
                module, _, function = self._places[name].partition(":")
                commands = import_module(f"spewy.cli.{module}")
                command = getattr(commands, function or name.replace("-", "_"))
                self.add_command(command if isinstance(command, click.Group) else verbose_option(command))
        return self.commands.get(cmd_name)


class OneLine(click.ClickException):
    def __init__(self, message: str) -> None:
        line = one_line(message)
        if len(line) > MOST_OF_LINE:
            # a quoted path may be this long; the end of the message says what is wrong
            line = f"{line[: MOST_OF_LINE // 2]} ... {line[-MOST_OF_LINE // 2 :]}"
        super().__init__(line)


class BadInput(OneLine):
    """The user's input is wrong."""

    exit_code = 2


class Failed(OneLine):
    """The program or the machine failed."""

    exit_code = 1


class Commands(LazyGroup):
    """The command ``spewy``: groups its commands in the help, and turns their errors into one line and an exit code."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        try:
            return super().make_context(*args, **options)
        except click.UsageError as error:
            raise _one_line(error) from None
        except BrokenPipeError:
            raise
        except OSError as error:  # the help cannot be written
            raise Failed(failure_text(error) or str(error)) from None

    def invoke(self, ctx: click.Context) -> Any:
        _require_surroundings()
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _one_line(error) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click prints these itself, and nothing for a closed pipe
        except KeyboardInterrupt:
            click.echo("\ninterrupted; everything that was saved is kept", err=True)
            ctx.exit(INTERRUPTED)
        except Exception as error:
            known = expected(error)
            if known is not None:
                raise known from None
            if is_verbose():
                raise
            raise Failed(f"unexpected {type(error).__name__}: {error} (spewy -v ... shows where)") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))
        for title, names in GROUPS.items():
            with formatter.section(title):
                commands = {name: self.get_command(ctx, name) for name in names}
                rows = [
                    (name.ljust(width), command.get_short_help_str())
                    for name, command in commands.items()
                    if command
                ]
                formatter.write_dl(rows)


def expected(error: Exception) -> OneLine | None:
    """Convert a failure of the machine, or bad input, to a one-line error with an exit code; None for other errors."""
    failed = failure_text(error)
    if failed is not None:
        return Failed(failed)
    if is_a(error, DAMAGED):
        return BadInput(f"{error} (`spewy check FOLDER` lists all damage; `spewy solve --again` solves anew)")
    if is_a(error, *BAD_INPUT) and not is_a(error, BUG):
        return BadInput(str(error))
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return BadInput(_too_long(os.fsdecode(error.filename)))
    return None


def _too_long(path: str) -> str:
    longest, whole = max(len(os.fsencode(name)) for name in path.split("/")), len(os.fsencode(path))
    return (
        f"path {path_text(path)} is too long: a name may have 255 bytes and a whole path 4,095, "
        f"found {longest:,} and {whole:,}"
    )


def _require_surroundings() -> None:
    if sys.stdout is None:  # the next file that is opened would become stdout
        raise BadInput("stdout is closed, and results are printed there; open stdout")
    try:
        os.getcwd()
    except FileNotFoundError:
        raise BadInput("the working directory was deleted; change to a folder that exists") from None


def _one_line(error: click.UsageError) -> click.ClickException:
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        return error
    command = "spewy" if error.ctx is None else error.ctx.command_path
    return BadInput(
        f"{short(error.format_message(), MOST_OF_USAGE).rstrip('.')} ({command} --help tells more)"
    )


@click.group(
    cls=Commands,
    places={name: place for places in GROUPS.values() for name, place in places.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="spewy %(version)s")
@verbose_option
@click.pass_context
def main(ctx: click.Context) -> None:
    """Solve heads-up poker range against range, one betting round at a time, and look at the solutions.

    \b
    Examples:
      spewy new job.toml --preset srp-btn-bb write a job file
      spewy estimate examples/T1.toml        estimate a job's memory and time
      spewy solve examples/T1.toml           solve a job, or continue it
      spewy show results/T1                  show a decision as a grid, or hand by hand
      spewy report results/T1 --line cc/     report both ranges on every next card
      spewy export results/T1 T1.parquet     write every decision to a file

    Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted
    by Ctrl-C, SIGTERM or SIGHUP, with everything saved.
    """  # noqa: D301
    log, handler = logging.getLogger("compiled"), Compiling()
    log.addHandler(handler)
    log.setLevel(min(log.level or logging.INFO, logging.INFO))
    ctx.call_on_close(partial(log.removeHandler, handler))
