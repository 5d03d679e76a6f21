"""Measures which small faults in the code that carries money the tests notice.

    python -m benchmarks.studies.mutants [--count 100] [--seed 1] [--out FILE] [--only spewy/game/lines.py]

A *mutant* is the code with one operator, comparison, constant or condition changed (`<` to `<=`, `+` to `-`, `min` to
`max`, n to n + 1, `and` to `or`). The command draws mutants of the files in `ROOMS`, runs the tests for each in a copy
of the repository, nearest test files first, until one fails, and prints the mutants that no test notices. Finished
mutants are kept in the file ``--out``, so a repeated command goes on; it runs those again whose source file has
changed, and with ``--survivors`` those that survived, after tests have been added. The draw takes the mutants with the
smallest hashes, so that it stays nearly the same when code changes. Some survivors are *equivalent*: they compute the
same results. A reader decides which; docs/house/measured.md lists those of the documented run.

Cosmic Ray and mutmut are libraries for this. Cosmic Ray replaces each operator by all others, also in annotations, so
most of its survivors mean nothing; mutmut leaves out decorated functions, among them all properties.
"""

import argparse
import ast
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from joblib import Parallel, delayed

from benchmarks.command import as_command
from benchmarks.paths import ROOT

ROOMS = {
    "spewy/game": ("test_game", "test_chunks"),
    "spewy/chunks": (
        "test_chunks",
        "test_learn/test_visits.py",
        "test_run/test_small_games.py",
        "test_run/test_too_large.py",
    ),
    "spewy/match/aivat.py": ("test_match",),
    "spewy/match/score.py": ("test_match",),
    "spewy/bot/bet_translation.py": ("test_bot/test_bet_translation.py", "test_bot/test_bot_translation.py"),
    "lockers/codec.py": ("../test_lockers",),
}
"""Files or folders whose code is changed, and where their tests are below tests/test_spewy, nearest first."""

SECONDS = 900
"""Longest run of the tests for one mutant; a mutant that makes the tests hang is noticed, too."""


NO_TESTS = 5
"""Exit code of pytest if a group has no tests."""


class Mutant(NamedTuple):
    """A change of a source file: the text `new` replaces the bytes from `start` to `end`."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str
    digest: str
    """Hash of the source file."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument(
        "--out", type=Path, default=Path("build/mutants.jsonl"), help="file of finished mutants"
    )
    parser.add_argument("--only", help="file whose mutants are drawn instead of those of all rooms")
    parser.add_argument("--survivors", action="store_true", help="run the tests on earlier survivors again")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of processes")
    options = parser.parse_args()
    mutants = drawn(options.count, options.seed, options.only)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found = finished(options.out)
    if options.survivors:
        found = {mutant: test for mutant, test in found.items() if test}
    missing = [mutant for mutant in mutants if mutant not in found]
    results = Parallel(options.workers, return_as="generator_unordered")(
        delayed(noticed)(mutant) for mutant in missing
    )
    with options.out.open("a") as file:
        for mutant, test in results:
            found[mutant] = test
            file.write(json.dumps([*mutant, test]) + "\n")
            file.flush()
            print(
                f"{len(found)}/{len(mutants)} {mutant.file}:{mutant.line} {test or 'SURVIVED'}",
                file=sys.stderr,
            )
    survivors = sorted(mutant for mutant in mutants if found[mutant] is None)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants are noticed by a test; survivors:")
    for mutant in survivors:
        print(f"{mutant.file}:{mutant.line}  {mutant.old}  ->  {mutant.new}")


def drawn(count: int, seed: int, only: str | None = None) -> list[Mutant]:
    """Draw ``count`` mutants of the file ``only``; None: of all files under the paths in `ROOMS`."""
    files = [only] if only else [name for room in ROOMS for name in _sources(room)]
    same: Counter[str] = Counter()
    ranks = {}
    for mutant in (mutant for name in files for mutant in mutants_of(name, (ROOT / name).read_text())):
        words = f"{seed} {mutant.file} {mutant.old} {mutant.new}"
        same[words] += 1
        ranks[mutant] = sha256(f"{words} {same[words]}".encode()).digest()
    return sorted(ranks, key=ranks.__getitem__)[:count]


def _sources(room: str) -> list[str]:
    path = ROOT / room
    return [room] if path.is_file() else sorted(str(p.relative_to(ROOT)) for p in path.rglob("*.py"))


def finished(path: Path) -> dict[Mutant, str | None]:
    """Read the mutants of earlier runs, each with the test that noticed it, or None."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {Mutant(*row[:-1]): row[-1] for row in rows}


def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    begins, digest = [0], sha256(source.encode()).hexdigest()[:16]
    for line in source.encode().splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        for changed in _changes(node):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            start = begins[node.lineno - 1] + node.col_offset
            end = begins[node.end_lineno - 1] + node.end_col_offset
            old = source.encode()[start:end].decode()
            new = f"({ast.unparse(changed)})"
            yield Mutant(file, node.lineno, start, end, " ".join(old.split()), new, digest)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """List the expressions to mutate: all outside of raise, assert, f-strings, annotations and decorators."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _expressions(child)


_COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            new.ops = [_COMPARISONS[type(operator)]()]
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in _OPERATORS:
            new.op = _OPERATORS[type(operator)]()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            new = operand
        case ast.IfExp(test=test):
            new.test = ast.UnaryOp(ast.Not(), test)
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            new.func = ast.Name(_FUNCTIONS[name])
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value)):
            new.value = value + 1
        case _:
            return
    yield new


def noticed(mutant: Mutant) -> tuple[Mutant, str | None]:
    """Run the tests on a mutant; return it with the first test that fails, or None."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copied = Path(folder) / "spewy"
        names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
        for name in filter(None, names):
            (copied / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copied / name, follow_symlinks=False)
        path = copied / mutant.file
        source = path.read_bytes()
        path.write_bytes(source[: mutant.start] + mutant.new.encode() + source[mutant.end :])
        return mutant, _failing_test(copied, mutant.file)


def _failing_test(folder: Path, file: str) -> str | None:
    deadline = time.monotonic() + SECONDS
    for tests in _test_files(folder, file):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        try:
            run = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=max(deadline - time.monotonic(), 1),
            )
        except subprocess.TimeoutExpired:
            return "time limit"
        if run.returncode not in (0, NO_TESTS):
            failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
            return failed[0].split(" - ")[0] if failed else f"exit code {run.returncode}"
    return None


def _test_files(folder: Path, file: str) -> Iterator[list[str]]:
    """List the tests of a source file in groups, the nearest first.

    The groups are the file's doctests with the tests named after the file, the other tests of the first test
    folder that `ROOMS` lists for the file, and the tests of its further test folders.
    """
    places = [
        (folder / "tests/test_spewy" / place).resolve()
        for room, places in ROOMS.items()
        if file.startswith(room)
        for place in places
    ]
    near = sorted(places[0].rglob("test_*.py")) if places[0].is_dir() else places[:1]
    words = {word.rstrip("s") for word in Path(file).stem.split("_")}
    named = [
        folder / file,
        *(path for path in near if words & {word.rstrip("s") for word in path.stem.split("_")[1:]}),
    ]
    for group in (named, [path for path in near if path not in named], places[1:]):
        if group:
            yield [str(path) for path in group]


if __name__ == "__main__":
    as_command(main)
