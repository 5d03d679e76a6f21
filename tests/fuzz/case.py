"""One case: its number, its draws, its folder, what it ran and what it found."""

import os
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TextIO

import cli_runs
from click.testing import CliRunner

from spewy.cli import main

from .judge import Answer, answer_faults, peer_faults
from .text import argument

TEMPLATES = "templates"
"""The folder of the templates, beside those of cases."""
MOST_LOGGED = 3000
"""Characters of an input or an output in the log."""


@dataclass(frozen=True)
class Found:
    """The result of a case: counts of exits by kind, what was not as it has to be, and what was run and came out."""

    kind: str
    exits: Counter[str]
    seconds: float
    faults: tuple[str, ...]
    log: str


@dataclass
class Case:
    """A case that runs. The current folder is its own while it does."""

    rng: Random
    folder: Path
    templates: Path
    log: TextIO
    exits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def spewy(self, *arguments: object, judge: Callable[[Answer], Iterable[str]] = answer_faults) -> Answer:
        """Run a command in this process, and judge its answer."""
        texts = [argument(str(each)) for each in arguments]
        self.note(f"$ spewy {shlex.join(texts)}")
        answer = Answer.of(texts, CliRunner().invoke(main, texts))
        self.count(answer)
        self.faults += judge(answer)
        return answer

    def table(self, *arguments: object, judge: Callable[[Answer], Iterable[str]] = peer_faults) -> Answer:
        """Run a command that talks to another program; it may fail by that program's fault."""
        return self.spewy(*arguments, judge=judge)

    def process(self, around: str, *arguments: object) -> Answer:
        """Run a command in a process of its own, with a line of shell in which ``"$@"`` is the command."""
        texts = [argument(str(each)) for each in arguments]
        self.note(f"$ {around}: spewy {shlex.join(texts)}")
        command = ["sh", "-c", around, "sh", *cli_runs.COMMAND, *texts]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        return Answer(tuple(texts), ran.returncode, ran.stdout, ran.stderr)

    def count(self, answer: Answer) -> None:
        """Count an answer and log it."""
        self.exits[answer.kind] += 1
        self.note(
            f"exit {answer.code}\nstdout: {answer.out[:MOST_LOGGED]}\nstderr: {answer.err[-MOST_LOGGED:]}"
        )

    def expect(self, holds: bool, text: str) -> None:
        """Note a fault unless something holds."""
        if not holds:
            self.faults.append(text)

    def write(self, name: str, content: bytes | str) -> str:
        """Write a file into the folder; its name."""
        content = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
        (self.folder / name).write_bytes(content)
        self.note(f"{name}: {content[:MOST_LOGGED].decode(errors='backslashreplace')}")
        return name

    def copy(self, name: str) -> Path:
        """A copy of a template's folder that the case may change."""
        return Path(shutil.copytree(self.templates / name, self.folder / name).name)

    def note(self, text: str) -> None:
        """Log it at once: a case may never come back."""
        self.log.write(text + "\n")
        self.log.flush()


def log_of(base: Path, number: int) -> Path:
    """Return the log file of a running case."""
    return base / f"case-{number}.log"


def run_case(seed: int, number: int, base: Path) -> Found:
    """Run one case in a folder of its own below ``base``, where the templates are."""
    from .cases import KINDS

    rng = Random(f"{seed}-{number}")
    kind = rng.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS])[0]
    folder, log_file = base / f"case-{number}", log_of(base, number)
    shutil.rmtree(folder, ignore_errors=True)  # another worker died in this case
    folder.mkdir()
    started = time.monotonic()
    os.chdir(folder)
    with log_file.open("a", encoding="utf-8", errors="backslashreplace") as log:
        case = Case(rng, folder, Path("..", TEMPLATES), log)
        try:
            kind(case)
        finally:
            os.chdir(base)
            shutil.rmtree(folder, ignore_errors=True)
    told = log_file.read_text(encoding="utf-8")
    log_file.unlink()
    return Found(kind.__name__, case.exits, time.monotonic() - started, tuple(case.faults), told)
