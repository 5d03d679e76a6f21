"""Arguments and options that several commands share."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from spewy.cli.tables import visible_lines
from spewy.system.clock import MOST_SECONDS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FOREIGN_CODE = (
    "A bot that is a command or a package runs with your rights, without a sandbox: it can read, change and send all "
    "that you can. Run code of people whom you do not trust as a user of its own, in a container or on another machine."
)
"""Text at the end of the help of commands that start other people's programs."""

_VERBOSE = "spewy.cli.verbose"
_LOGGERS = ("spewy", "buckets", "solvers", "lockers", "compiled")


class Seconds(click.FloatRange):
    """A finite number of seconds that timers accept; click's own range accepts ``nan``.

    Args:
        some: whether 0 is refused.
    """

    def __init__(self, some: bool = False) -> None:
        super().__init__(min=0, min_open=some)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert the value to seconds."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is not a finite number of seconds.", param, ctx)
        if seconds > MOST_SECONDS:
            self.fail(f"{value!r} is more than {MOST_SECONDS:,.0f} seconds.", param, ctx)
        return seconds


def job_argument(function: Decorated) -> Decorated:
    """Add ``JOB.toml``, the job file."""
    return click.argument("job_file", metavar="JOB.toml", type=click.Path(path_type=Path))(function)


def folder_argument(function: Decorated) -> Decorated:
    """Add ``FOLDER``, the lockers of a solve."""
    return click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))(function)


def set_option(function: Decorated) -> Decorated:
    """Add ``--set key=value``, which may be repeated."""
    return click.option(
        "--set",
        "overrides",
        metavar="KEY=VALUE",
        multiple=True,
        help="Set a key of the job, such as solve.target=0.1%; repeatable.",
    )(function)


def target_option(function: Decorated) -> Decorated:
    """Add ``--target``, the accuracy to which dropped rounds are solved."""
    return click.option(
        "--target",
        metavar="TARGET",
        help="Accuracy of re-solving dropped rounds, such as 0.1% of the pot at the beginning of the round; "
        "default: the target of the solve.",
    )(function)


def line_option(told: str, default: str | None = "") -> Callable[[Decorated], Decorated]:
    """Add ``--line``, the betting line to look at."""
    return click.option("--line", default=default, metavar="LINE", help=told)


def csv_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add ``--csv``, a file for a table; the command gets it as ``table_file``."""
    return _file_option("--csv", "table_file", f"Write {what}.")


def log_option(told: str) -> Callable[[Decorated], Decorated]:
    """Add ``--log``, a file for a log."""
    return _file_option("--log", "log", told)


def plot_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add ``--plot``, a file for a picture, and ``--size``, the picture's medium."""
    size = click.option(
        "--size",
        type=click.Choice(["page", "screen", "phone"]),
        default="screen",
        show_default=True,
        help="Medium of the --plot picture: a printed page, a computer's screen, or a telephone.",
    )
    plot = _file_option("--plot", "plot", f"Draw {what} into a .png, .svg or .pdf.")
    return lambda function: plot(size(function))


def _file_option(option: str, name: str, told: str) -> Callable[[Decorated], Decorated]:
    return click.option(option, name, metavar="FILE", type=click.Path(path_type=Path), help=told)


def json_option(function: Decorated) -> Decorated:
    """Add ``--json``, which prints one JSON object."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")(function)


def verbose_option(function: Decorated) -> Decorated:
    """Add ``-v``, before or after the command's name."""
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_set_verbose,
        help="Log to stderr; show where an unexpected error comes from.",
    )(function)


def is_verbose() -> bool:
    """Whether ``-v`` was given."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_VERBOSE))


class _Visible(logging.Formatter):
    """Writes control characters as escapes, since log messages may quote foreign text."""

    def format(self, record: logging.LogRecord) -> str:
        return visible_lines(super().format(record))


def _set_verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or _VERBOSE in ctx.meta:
        return
    ctx.meta[_VERBOSE] = True  # the meta of all nested contexts is one
    handler = logging.StreamHandler()
    handler.setFormatter(_Visible("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in _LOGGERS:  # numba's and others' debug logs drown everything
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        ctx.call_on_close(partial(logger.removeHandler, handler))
