"""Spots of other programs: which program wrote a text, the text as a job, and a job as a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from spewy.bridges import pioviewer, postflop, texassolver
from spewy.bridges.described import Described
from spewy.errors import InputError
from spewy.job.job import Job, SpotJob


class Format(NamedTuple):
    """Functions that recognise, read and write the text in which a program describes a spot."""

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str], Described]
    write: Callable[[SpotJob], tuple[str, list[str]]]


FORMATS = {
    "pioviewer": Format(pioviewer.NAME, pioviewer.recognises, pioviewer.read, pioviewer.write),
    "texassolver": Format(texassolver.NAME, texassolver.recognises, texassolver.read, texassolver.write),
    "postflop": Format(postflop.NAME, postflop.recognises, postflop.read, postflop.write),
}
"""The formats in the order in which a text is compared with them."""


@dataclass(frozen=True)
class Spot:
    """A spot of another program as the data of a job.

    Attributes:
        program: name of the program that the text is for.
        data: the job as nested dictionaries, as `Job.of` takes it.
        notes: what has no counterpart in the job, and what could not be read, each with the number of its line.
    """

    program: str
    data: dict[str, Any]
    notes: tuple[str, ...]


def recognised(text: str) -> Format | None:
    """Return the format of a text; None if it is of no known program."""
    return next((each for each in FORMATS.values() if each.recognises(text.removeprefix("\ufeff"))), None)


def read_spot(
    text: str, subject: str, changes: Mapping[str, Any] | None = None, name: str | None = None
) -> Spot:
    """Read the text of PioViewer, TexasSolver, WASM Postflop or Desktop Postflop.

    Args:
        subject: name of the text, with which errors begin.
        changes: values of the section ``[spot]``, such as ``{"board": "Ks 7h 2d"}``, that replace those of the text.
        name: name of the job; None: made of the board.

    Raises:
        InputError: the text is of no known program, or lacks something that a job needs.
    """
    text = text.removeprefix("\ufeff")
    known = recognised(text)
    if known is None:
        programs = ", ".join(each.name for each in FORMATS.values())
        raise InputError(
            f"{subject}: expected a spot of {programs} or Desktop Postflop, found another text (for a played hand, use "
            "--from-hand)"
        )
    try:
        described = known.read(text)
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None
    data = described.job_data(subject, changes, name)
    return Spot(known.name, data, tuple(described.notes))


def write_spot(job: Job, program: str) -> tuple[str, list[str]]:
    """Write a spot as the text of another program, one of the keys of `FORMATS`.

    Returns:
        the text, and notes on what it does not say.
    """
    if not isinstance(job, SpotJob) or job.rules.limit:
        raise InputError(
            f"job {job.name}: expected a no-limit spot, with a board and ranges, to write as a text"
        )
    return FORMATS[program].write(job)
