"""Counts the source files that one call goes through, and how deep its frames are nested.

    python -m benchmarks.studies.walks [--files] [WALK...]

A walk is a call that a newcomer wants to follow:

- ``solve``: `spewy solve examples/T1.toml`, up to the end of the first iterations.
- ``deals``: `spewy solve` of a whole game by sampled boards, up to the end of the first deals.
- ``show``: `spewy show` of the solved T1.
- ``click``: the position that the page asks for at a click, at the root of the solved T1.
- ``act``: a bot's first decision on a turn, which re-solves the rest of the hand.

A file counts if one of its functions runs in the main thread; module-level code, imports and generated functions do not
count. The benchmark prints the number of files, of those by package, and the largest number of frames of one package on
the stack. ``--files`` lists the files too.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

import spewy
from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, ROOT
from benchmarks.speed.bot_budget import small_folder, small_job
from solvers.exact import ExactCfr
from solvers.sampled.engine import SampledCfr
from spewy import open_bot
from spewy.cli import main as command
from spewy.game.hand import Hand
from spewy.web.looking import solution_questions

PACKAGES = ("compiled", "lockers", "buckets", "solvers", "spewy")
T1 = EXAMPLES / "T1.toml"


class Steps:
    """Recorder of the files that a call goes through, by the interpreter's profiling hook.

    Attributes:
        files: the source files, as paths relative to the repository's root.
        deepest: for each package (for spewy: each subfolder) the largest number of its frames on the stack at a time.
    """

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.deepest = Counter[str]()
        self._known: dict[CodeType, str | None] = {}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the functions that run in this thread, until the ``with`` block ends or `stop` is called."""
        sys.setprofile(self._entered)
        try:
            yield
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop recording functions before the ``with`` block ends."""
        sys.setprofile(None)

    def _entered(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        path = self._path(frame.f_code) if event == "call" else None
        if path is None:
            return
        self.files.add(path)
        room, depth, above = room_of(path), 0, frame
        while above is not None:
            known = self._path(above.f_code)
            depth += known is not None and room_of(known) == room
            above = above.f_back
        self.deepest[room] = max(self.deepest[room], depth)

    def _path(self, code: CodeType) -> str | None:
        """Return the file of a function, relative to the repository's root; None if it is not in a package of Spewy."""
        if code not in self._known:
            path = Path(code.co_filename)
            ours = code.co_name != "<module>" and path.is_relative_to(ROOT)
            relative = path.relative_to(ROOT) if ours else None
            counts = relative is not None and relative.parts[0] in PACKAGES
            self._known[code] = relative.as_posix() if counts and relative is not None else None
        return self._known[code]


def room_of(path: str) -> str:
    """Return the package of a file; for spewy the package and the room.

    >>> room_of("solvers/exact/engine.py"), room_of("spewy/bot/resolving/resolve.py"), room_of("spewy/errors.py")
    ('solvers', 'spewy/bot', 'spewy')
    """
    package, *rest = path.split("/")
    return f"{package}/{rest[0]}" if package == "spewy" and len(rest) > 1 else package


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "walks",
        nargs="*",
        metavar="WALK",
        default=list(WALKS),
        help="names of the calls to follow: solve, deals, show, click or act (default: all)",
    )
    parser.add_argument(
        "--files", action="store_true", help="also list the source files that each call goes through"
    )
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in options.walks:
            steps = WALKS[name](Path(folder))
            rooms = Counter(map(room_of, steps.files))
            print(f"{name}: {len(steps.files)} files")
            print("  files   " + ", ".join(f"{room} {n}" for room, n in sorted(rooms.items())))
            print("  frames  " + ", ".join(f"{room} {n}" for room, n in sorted(steps.deepest.items())))
            for path in sorted(steps.files) if options.files else ():
                print(f"  {path}")


def solving(folder: Path) -> Steps:
    """Record the files that a solve of a spot goes through, up to the end of its first iterations."""
    return _to_first_run(ExactCfr, "run_to", T1, folder / "T1-begun")


def dealing(folder: Path) -> Steps:
    """Record the files that a solve of a whole game goes through, up to the end of its first deals."""
    return _to_first_run(SampledCfr, "run", small_job(folder), folder / "deals-begun")


def showing(folder: Path) -> Steps:
    """Run `spewy show` on a solved spot; return the files that it goes through and the depth of its frames."""
    _solved(folder)
    steps = Steps()
    with steps.recorded():
        _spewy("show", str(_solved(folder)))
    return steps


def _solved(folder: Path) -> Path:
    if not (folder / "T1").exists():
        _spewy("solve", str(T1), "--out", str(folder / "T1"))
    return folder / "T1"


def clicking(folder: Path) -> Steps:
    """Record the source files that compute what `spewy serve` shows after a click: the root of the solved T1.

    No server runs: the function that answers the page is called directly.
    """
    with spewy.Solution.open(_solved(folder)) as solution:
        position = solution_questions(_Open(solution))["/api/position"]
        steps = Steps()
        with steps.recorded():
            position({"folder": "T1", "line": ""})
    return steps


class _Open(NamedTuple):
    """Stands in for a server's folders: gives one open solution for every name."""

    of: spewy.Solution

    def solution(self, name: str) -> AbstractContextManager[spewy.Solution]:
        del name
        return nullcontext(self.of)


def acting(folder: Path) -> Steps:
    """Record the files that a bot's decision on a turn goes through, when it re-solves the rest of the hand."""
    with open_bot(small_folder(folder), resolve="always", seconds=None, iterations=50) as bot:
        cards = bot.game.deck.cards
        hand = Hand.start(bot.game, (cards[-2:], None))
        bot.new_hand(hand, 0, 1)
        hand = hand.apply("c").apply("c").deal(cards[:3]).apply("c").apply("c").deal(cards[3:4])
        steps = Steps()
        with steps.recorded():
            bot.act(hand)
        assert bot.tally.sources == {"re-solved": 1}, bot.tally
    return steps


WALKS = {"solve": solving, "deals": dealing, "show": showing, "click": clicking, "act": acting}


def _to_first_run(engine: type[Any], method: str, job: Path, out: Path) -> Steps:
    steps, run = Steps(), getattr(engine, method)

    def first(*arguments: Any) -> Any:
        answer = run(*arguments)
        steps.stop()
        return answer

    setattr(engine, method, first)
    try:
        with steps.recorded():
            _spewy("solve", str(job), "--out", str(out))
    finally:
        setattr(engine, method, run)
    return steps


def _spewy(*arguments: str) -> None:
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = command(list(arguments), standalone_mode=False)
    assert not code, f"spewy {' '.join(arguments)} exited with {code}"


if __name__ == "__main__":
    as_command(main)
