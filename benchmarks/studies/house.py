"""Counts the files and lines of the project: source by package, docstrings, page modules, tests, documentation.

    python -m benchmarks.studies.house [FOLDER]

FOLDER is a clone of the repository (default: the clone that runs the command), so that two commits can be compared. The
command counts all lines of a Python file, with blank lines and comments. The column "asks a kind" counts lines that ask
whether a job, a solve or an engine is of one kind: ``.sampled``, ``counted ==``, ``saves ==``, ``isinstance(_, Plan)``.
`benchmarks.studies.walks` counts the files that a call goes through.
"""

import argparse
import ast
import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.command import as_command
from benchmarks.paths import ROOT

PACKAGES = ("compiled", "lockers", "buckets", "solvers", "spewy")
KIND = re.compile(
    r"(?<!solvers)(?<!learn)(?<!resolving)\.sampled\b(?!\.| import)"
    r"|\bcounted [!=]=|\bsaves [!=]=|isinstance\([^)]*Plan\)"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default=ROOT, type=Path, help="clone of the repository")
    root = parser.parse_args().folder
    rooms = {
        **{package: root / package for package in PACKAGES[:-1]},
        **{f"spewy/{path.name}": path for path in sorted((root / "spewy").iterdir()) if is_room(path)},
    }
    table = Table("package", "files", "lines", "docstrings", "asks a kind")
    rows = [(name, counts(sorted(path.rglob("*.py")))) for name, path in rooms.items()]
    rows.append(("spewy/*.py", counts(sorted((root / "spewy").glob("*.py")))))
    rows.append(("benchmarks", counts(sorted((root / "benchmarks").rglob("*.py")))))
    rows.append(("all source", tuple(map(sum, zip(*(numbers for _, numbers in rows), strict=True)))))
    rows.append(("tests", counts(sorted((root / "tests").rglob("*.py")))))
    for name, numbers in rows:
        table.add_row(name, *(f"{number:,}" for number in numbers))
    console = Console()
    console.print(table)
    scripts = [path for path in (root / "spewy/web/static").rglob("*.js") if path.is_file()]
    pages = [path for path in (root / "docs").rglob("*.md") if path.is_file()]
    console.print(f"page: {len(scripts)} modules, {sum(map(lines, scripts)):,} lines of JavaScript")
    console.print(f"docs: {len(pages)} pages, {sum(len(path.read_text().split()) for path in pages):,} words")


def is_room(path: Path) -> bool:
    return (path / "__init__.py").exists()


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def counts(files: list[Path]) -> tuple[int, ...]:
    """Return the numbers of files, lines, lines of docstrings, and lines that match `KIND` in Python files.

    Lines that match `KIND` branch by which job or which engine there is.
    """
    texts = [path.read_text() for path in files]
    asks = sum(bool(KIND.search(line)) for text in texts for line in text.splitlines())
    return len(files), sum(map(lines, files)), sum(map(docstring_lines, texts)), asks


def docstring_lines(text: str) -> int:
    """Number of lines of the string literals that stand as statements: the docstrings."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


if __name__ == "__main__":
    as_command(main)
