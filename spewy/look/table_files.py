"""Write tables to CSV, Parquet and Excel files (.xlsx), one data frame after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spewy.errors import InputError, visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PACKAGES", "SPREADSHEET_ROWS", "SUFFIXES", "require_rows", "write_table"]

PACKAGES: dict[str, tuple[str, ...]] = {
    ".csv": ("pandas",),
    ".xlsx": ("pandas", "openpyxl"),
    ".parquet": ("pandas", "pyarrow"),
}
"""Python packages that are needed to write each kind of table, by the suffix of the file."""
SUFFIXES = tuple(PACKAGES)
SPREADSHEET_ROWS = 1_048_576
"""Largest number of rows, header included, that common spreadsheet programs open."""
SHARES = ("frequency", "equity", "realisation", "moved")
"""Columns whose names begin with these words are shown in percent by a spreadsheet."""
DIGITS = 3
"""Default number of decimals that a spreadsheet shows; shares in percent have two less."""
MEASURED_ROWS = 500
"""Number of first rows from which the width of a spreadsheet's column of numbers is computed."""
WIDEST = 40
"""Largest width of a spreadsheet's column, in characters."""


def write_table(path: Path, suffix: str, frames: Iterable[pd.DataFrame], digits: int | None = None) -> int:
    """Write data frames with equal columns one below another to a file, and return the number of rows.

    Args:
        suffix: kind of file, one of `SUFFIXES`; the path may have another suffix.
        frames: the data frames, at least one.
        digits: number of decimals that numbers are rounded to; None: exact numbers, which a spreadsheet shows with
            `DIGITS` decimals.
    """
    rounded = frames if digits is None else (frame.round(digits) for frame in frames)
    if suffix == ".xlsx":
        return _write_xlsx(path, rounded, DIGITS if digits is None else digits)
    return {".csv": _write_csv, ".parquet": _write_parquet}[suffix](path, rounded)


def require_rows(rows: int) -> None:
    """Check that a spreadsheet has room for a number of rows and a header."""
    if rows >= SPREADSHEET_ROWS:
        raise InputError(
            f"a spreadsheet holds {SPREADSHEET_ROWS:,} rows, and the table has {rows:,} and a header; select fewer "
            "decisions, or write a .parquet file, which has no such limit"
        )


def _write_csv(path: Path, frames: Iterable[pd.DataFrame]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as out:
        for number, frame in enumerate(frames):
            frame.to_csv(out, index=False, header=number == 0, lineterminator="\n")
            count += len(frame)
    return count


def _write_parquet(path: Path, frames: Iterable[pd.DataFrame]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = iter(frames)
    first = next(batches)
    schema, count = pa.schema([(name, _parquet_type(first, name)) for name in first.columns]), 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for frame in chain([first], batches):
            writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))
            count += len(frame)
    return count


def _parquet_type(frame: pd.DataFrame, column: str) -> Any:
    import pyarrow as pa

    if column == "player":
        return pa.int8()
    kind = frame[column].dtype.kind
    return {"O": pa.string(), "U": pa.string(), "i": pa.int64(), "u": pa.int64(), "b": pa.bool_()}.get(
        kind, pa.float64()
    )


def _write_xlsx(path: Path, frames: Iterable[pd.DataFrame], digits: int) -> int:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    batches = iter(frames)
    first = next(batches)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Spewy")
    sheet.freeze_panes = "A2"
    names = list(first.columns)
    formats = [_number_format(name, digits) for name in names]
    for number, name in enumerate(names):
        sheet.column_dimensions[get_column_letter(number + 1)].width = _width(first, name, digits)

    def cell(value: Any, number_format: str | None = None, *, bold: bool = False) -> Any:
        """Make a cell of the spreadsheet; a text that looks like a formula stays a text."""
        made = WriteOnlyCell(sheet, visible(value) if isinstance(value, str) else value)
        if isinstance(value, str):
            made.data_type = "s"
        elif isinstance(value, float) and number_format is not None:
            made.number_format = number_format
        if bold:
            made.font = Font(bold=True)
        return made

    sheet.append([cell(str(name), bold=True) for name in names])
    count = 0
    for frame in chain([first], batches):
        count += len(frame)
        require_rows(count)
        for row in _rows(frame):
            sheet.append(
                [
                    None if value is None else cell(value, number_format)
                    for value, number_format in zip(row, formats, strict=True)
                ]
            )
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(names))}{count + 1}"
    book.save(path)
    return count


def _rows(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    columns = (frame[name].tolist() for name in frame.columns)
    for row in zip(*columns, strict=True):
        yield tuple(None if value != value else value for value in row)


def _number_format(name: str, digits: int) -> str:
    if name.startswith(SHARES):
        return f"0.{'0' * max(digits - 2, 0)}%".replace("0.%", "0%")
    return f"0.{'0' * digits}" if digits else "0"


def _width(frame: pd.DataFrame, name: str, digits: int) -> float:
    column = frame[name]
    values = (column.head(MEASURED_ROWS) if column.dtype.kind in "if" else column.drop_duplicates()).tolist()
    texts = [f"{value:.{digits}f}" if isinstance(value, float) else str(value) for value in values]
    return float(min(max([len(str(name)) + 3, *(len(text) + 1 for text in texts)]), WIDEST))
