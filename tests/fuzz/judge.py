"""Rules for the answer of any command: exit codes, streams and JSON."""

import json
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from click.testing import Result

MOST_OF_ERROR = 1000
"""Characters of an error's line."""
NOT_FORESEEN = "(spewy -v ... shows where)"
REFUSED_RESULTS = ("expected a finite exploitability", "expected both players' net chips to sum to 0")
"""A solve that does not trust what it found says so and fails."""


@dataclass(frozen=True)
class Answer:
    """The exit code and output of a command."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    crash: str = ""
    """The traceback of an exception that left the command."""

    @classmethod
    def of(cls, arguments: Sequence[str], result: Result) -> "Answer":
        """The answer of a command that ran in this process."""
        error = result.exception
        ended = error is None or isinstance(error, SystemExit)
        crash = "" if ended else "".join(traceback.format_exception(error))
        return cls(tuple(arguments), result.exit_code, result.stdout, result.stderr, crash)

    @property
    def error(self) -> str:
        """The line that tells what is wrong; empty where none does."""
        lines = self.err.splitlines()
        return lines[-1] if lines and lines[-1].startswith("Error: ") else ""

    @property
    def kind(self) -> str:
        """The name under which the exit is counted."""
        names = {0: "0 done", 1: "1 failed", 2: "2 bad input"}
        if self.code == 1 and self.arguments[0] == "check":
            return "1 findings"
        if self.code == 1 and any(said in self.error for said in REFUSED_RESULTS):
            return "1 refused its own result"
        return names.get(self.code, f"{self.code}, unexpected")

    def json(self) -> Any:
        """Return the JSON value on stdout; `ValueError` where JSON has no such numbers, too."""
        return json.loads(self.out, parse_constant=_no_number)


def answer_faults(answer: Answer) -> Iterator[str]:
    """Return the faults of an answer by itself."""
    if answer.crash:
        yield f"expected an exit code, found a traceback\n{answer.crash}"
    if "Traceback (most recent call last)" in answer.err or NOT_FORESEEN in answer.error:
        yield "expected errors that are foreseen"
    if "Warning: " in answer.err:
        yield "expected no warnings of Python"
    if any(len(line) > MOST_OF_ERROR for line in answer.err.splitlines()):
        yield f"expected lines of at most {MOST_OF_ERROR:,} characters on stderr"
    if answer.kind in ("0 done", "1 findings"):
        yield from _faults_of_results(answer)
    elif answer.kind in ("2 bad input", "1 refused its own result"):
        yield from _faults_of_errors(answer)
    elif not answer.crash:
        yield "expected exit code 0 or 2, or 1 with findings of an audit"


def peer_faults(answer: Answer) -> Iterator[str]:
    """The faults of an answer whose command may fail because of the program at the other end."""
    if answer.kind != "1 failed":
        yield from answer_faults(answer)
        return
    if answer.crash or NOT_FORESEEN in answer.error or "Traceback (most recent call last)" in answer.err:
        yield f"expected errors that are foreseen\n{answer.crash}"
    yield from _faults_of_errors(answer)


def session_faults(answer: Answer) -> Iterator[str]:
    """The faults of an answer whose command prints what it has played so far, also if the other end fails."""
    if answer.kind != "1 failed":
        yield from answer_faults(answer)
        return
    yield from peer_faults(replace(answer, out=""))
    yield from _faults_of_results(replace(answer, err=""))


def _faults_of_results(answer: Answer) -> Iterator[str]:
    if not answer.out:
        yield "expected a result on stdout"
    if answer.err.count("Error: "):
        yield "expected no error beside a result"
    if "--json" in answer.arguments and "--help" not in answer.arguments:
        try:
            answer.json()
        except ValueError as error:
            yield f"expected JSON, found {error}"


def _faults_of_errors(answer: Answer) -> Iterator[str]:
    if answer.out:
        yield "expected nothing on stdout"
    starts = [line for line in answer.err.splitlines() if line.startswith("Error: ")]
    if not answer.error or len(starts) != 1:
        yield "expected one line of error, and that the last one"


def _no_number(text: str) -> float:
    raise ValueError(f"{text}, which is no JSON")
