"""Arguments and options that several commands share."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from spewy.cli.tables import say, visible_lines
from spewy.system.tools import MOST_SECONDS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FOREIGN_CODE = (
    "A bot that is a command or a package runs with your rights, without a sandbox: it can read, change and send all "
    "that you can. Run code of people whom you do not trust as a user of its own, in a container or on another machine."
)
"""Text at the end of the help of commands that start other people's programs."""

_VERBOSE = "spewy.cli.verbose"
_DIGITS = "spewy.cli.digits"
WITH_CSV = ("--csv", "table_file")
"""Option ``--csv`` and its parameter: the ``needs`` of options of table files, see `Needing`."""
_LOGGERS = ("spewy", "buckets", "solvers", "lockers", "compiled")


class Seconds(click.FloatRange):
    """A finite number of seconds, at most as many as the system's timers accept; with ``some``, above 0."""

    def __init__(self, some: bool = False) -> None:
        super().__init__(min=0, min_open=some)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number of seconds, such as 0.5.", param, ctx)
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is not a finite number of seconds.", param, ctx)
        if seconds > MOST_SECONDS:
            self.fail(f"{value!r} is more than {MOST_SECONDS:,.0f} seconds.", param, ctx)
        return seconds


class Span(click.ParamType[float]):
    """A time above 0 with a unit, such as ``7s``, ``2 min`` or ``1.5 h``, in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from spewy.job.texts import parse_duration

        try:
            seconds = parse_duration(str(value))
        except ValueError as error:
            self.fail(f"{value!r}: {error}.", param, ctx)
        if seconds > MOST_SECONDS:
            self.fail(f"{value!r} is more than {MOST_SECONDS:,.0f} seconds.", param, ctx)
        return seconds


class Needing(click.Option):
    """An option that needs another option: ``needs`` names this option, such as ``--csv``, and its parameter."""

    def __init__(self, *args: Any, needs: tuple[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._needs = needs

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        option, name = self._needs
        if self.name in opts and name not in opts:
            raise click.UsageError(f"{self.opts[0]} has no effect without {option}; remove it", ctx)
        return super().handle_parse_result(ctx, opts, args)


def refuse_unused(reason: str, *names: str) -> None:
    """Refuse options of the running command that the user gave although they have no effect.

    Args:
        reason: the end of the message "--all has no effect ...", such as "with --json".
        names: names of the options' parameters.
    """
    ctx = click.get_current_context()
    for option in ctx.command.params:
        if option.name in names and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} has no effect {reason}; remove it")


def job_argument(function: Decorated) -> Decorated:
    return click.argument("job_file", metavar="JOB.toml", type=click.Path(path_type=Path))(function)


def folder_argument(function: Decorated) -> Decorated:
    return click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))(function)


def set_option(function: Decorated) -> Decorated:
    return click.option(
        "--set",
        "overrides",
        metavar="KEY=VALUE",
        multiple=True,
        help="Replace the value of a key in the job file, such as solve.target=0.1%; can be given several times. "
        "KEY+=VALUE appends VALUE to a list or a text.",
    )(function)


def lock_option(help_text: str) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--lock", "locks", metavar='"LINE [HANDS]: ACTION=FREQUENCY, ..."', multiple=True, help=help_text
    )


def locking(locks: Sequence[str]) -> tuple[str, ...]:
    """Return the ``--set`` texts that add locks (texts of ``--lock``) to a job and to the job's name."""
    from spewy.job.texts import lock_name

    if not locks:
        return ()
    return (*(f"lock+={text}" for text in locks), f"name+={lock_name(locks)}")


def target_option(function: Decorated) -> Decorated:
    return click.option(
        "--target",
        metavar="TARGET",
        help="Exploitability to which a dropped round (spewy drop) is solved again, such as 0.1% of the pot at the "
        "beginning of the round; default: the target of the solve.",
    )(function)


def line_option(help_text: str, default: str | None = "") -> Callable[[Decorated], Decorated]:
    return click.option("--line", default=default, metavar="LINE", help=help_text)


def csv_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add ``--csv`` ("Write ``what``.") and ``--digits``; the command receives the path as ``table_file``."""
    option = _file_option("--csv", "table_file", f"Write {what}.")
    return lambda function: option(digits_option(function, cls=Needing, needs=WITH_CSV))


def digits_option(function: Decorated, **settings: Any) -> Decorated:
    """Add ``--digits``, whose value `digits` returns."""
    return click.option(
        "--digits",
        **settings,
        metavar="N",
        type=click.IntRange(0, 15),
        expose_value=False,
        callback=lambda ctx, _, value: ctx.meta.__setitem__(_DIGITS, value),
        help="Round the numbers in the table file to N decimals. Default: exact numbers; an .xlsx file shows them with "
        "three decimals, shares in percent.",
    )(function)


def digits() -> int | None:
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_DIGITS)


def log_option(help_text: str) -> Callable[[Decorated], Decorated]:
    return _file_option("--log", "log", help_text)


def plot_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add ``--plot`` ("Draw ``what`` into a .png, .svg or .pdf file.") and ``--size``."""
    size = click.option(
        "--size",
        cls=Needing,
        needs=("--plot", "plot"),
        type=click.Choice(["page", "screen", "phone"]),
        default="screen",
        show_default=True,
        help="Medium that the --plot picture is sized for: a printed page, a computer screen, or a phone.",
    )
    plot = _file_option("--plot", "plot", f"Draw {what} into a .png, .svg or .pdf file.")
    return lambda function: plot(size(function))


def _file_option(option: str, name: str, help_text: str) -> Callable[[Decorated], Decorated]:
    return click.option(option, name, metavar="FILE", type=click.Path(path_type=Path), help=help_text)


def json_option(function: Decorated) -> Decorated:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout.")(
        function
    )


def verbose_option(function: Decorated) -> Decorated:
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_set_verbose,
        help="Print log messages on stderr, and the traceback of an unexpected error.",
    )(function)


def is_verbose() -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_VERBOSE))


class _Visible(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible_lines(super().format(record))


def _set_verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or _VERBOSE in ctx.meta:
        return
    ctx.meta[_VERBOSE] = True  # nested contexts share one meta
    handler = logging.StreamHandler()
    handler.setFormatter(_Visible("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in _LOGGERS:  # debug logs of other packages, such as numba's, would hide these
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        ctx.call_on_close(partial(logger.removeHandler, handler))


def dask_option(function: Decorated) -> Decorated:
    return click.option(
        "--dask",
        "address",
        metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786. Its workers then do the work, instead of "
        "processes on this machine; the workers need no shared folder.",
    )(function)


@contextmanager
def on_cluster(address: str | None, processes: int | None, option: str = "--workers") -> Iterator[None]:
    """Run joblib's work on the workers of the cluster at ``address``; without an address, do nothing.

    ``processes`` is the number of local processes that the user asks for; with a cluster, ``option`` is refused.
    """
    if address is None:
        yield
        return
    if processes is not None:
        raise click.UsageError(
            f"{option} has no effect with --dask, which uses all workers; remove one of them"
        )
    from joblib import parallel_config

    from spewy.system.cluster import Cluster

    with Cluster(address, 0, say) as cluster, parallel_config(backend="dask", client=cluster.client):
        yield
