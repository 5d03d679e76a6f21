"""``spewy export``: every decision of a solve as a table, streamed into a file that appears when it is whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.extras import require
from spewy.cli.files import appearing, check_file
from spewy.cli.options import folder_argument, verbose_option

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE = 200_000


@click.command()
@folder_argument
@click.argument("file", metavar="FILE.{csv,parquet}", type=click.Path(path_type=Path))
@verbose_option
def export(folder: Path, file: Path) -> None:
    """Write strategy, reach, EV and equity of every decision as CSV or Parquet.

    \b
    One row per board, line, hand and action, in these columns:
      board      cards, such as QsJh2h8c; boards that are the same up to suits appear once
      line       ACPC betting string from the solve's root
      player     0 (oop) or 1 (ip, the button)
      hand       such as AsKs
      action     such as Check or Bet(120)
      reach      weight of the hand in the player's range there
      frequency  how often the hand takes the action
      ev         expected share of the pot from there on, in chips; empty where not defined
      action_ev  the same if the hand takes this action now
      equity     chance to win if betting stopped; empty where not defined

    \b
    Examples:
      spewy export results/T1 T1.parquet
      spewy export results/T1 T1.csv
    """  # noqa: D301
    suffix = check_file(file, tuple(_WRITERS))
    require("pandas", *(["pyarrow"] if suffix == ".parquet" else []))
    from spewy.look.solution import Solution

    write = _WRITERS[suffix]
    with Solution.open(folder) as solution, appearing(file) as temporary:
        count = write(temporary, _batches(_counted(solution.frames(), solution.n_frames)))
    click.echo(f"{file}: {count:,} rows")


def _counted(frames: Iterator[pd.DataFrame], total: int) -> Iterator[pd.DataFrame]:
    """The same frames, with a bar on a terminal."""
    from tqdm import tqdm

    yield from tqdm(
        frames, total=total, desc="decisions", unit="", file=sys.stderr, disable=not sys.stderr.isatty()
    )


def _batches(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Frames joined into larger ones: writers pay per call, and Parquet's row groups want to be large."""
    import pandas as pd

    held: list[pd.DataFrame] = []
    rows = 0
    for frame in frames:
        held.append(frame)
        rows += len(frame)
        if rows >= ROWS_AT_ONCE:
            yield pd.concat(held, ignore_index=True)
            held, rows = [], 0
    if held:
        yield pd.concat(held, ignore_index=True)


def _write_csv(path: Path, frames: Iterable[pd.DataFrame]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as out:
        for frame in frames:
            frame.to_csv(out, index=False, header=count == 0, lineterminator="\n")
            count += len(frame)
    return count


def _write_parquet(path: Path, frames: Iterable[pd.DataFrame]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, real = pa.string(), pa.float64()
    schema = pa.schema(
        [("board", text), ("line", text), ("player", pa.int8()), ("hand", text), ("action", text)]
        + [(name, real) for name in ("reach", "frequency", "ev", "action_ev", "equity")]
    )
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for frame in frames:
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))
            count += len(frame)
    return count


_WRITERS: dict[str, Callable[[Path, Iterable[pd.DataFrame]], int]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
