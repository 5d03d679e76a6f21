"""The job file's JSON Schema, for editors: pydantic writes it, and the docstrings of keys describe them.

Docstrings are read from the sources here and not by pydantic, which would do it whenever a job is loaded.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from spewy.game.names import SEAT_NAMES
from spewy.job.job import Job
from spewy.job.sections import Section

__all__ = ["job_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
BOARDS = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "In place of board: a list of boards, which makes a batch of as many jobs.",
}
RANGE_FILE = {
    "type": "object",
    "properties": {"file": {"type": "string", "description": "A text file, relative to the job."}},
    "required": ["file"],
    "additionalProperties": False,
}


def job_schema() -> dict[str, Any]:
    """The schema of a job file; lists of boards and range files included, which are gone when one is validated."""
    schema = Job.model_json_schema(by_alias=True)
    for section in _sections(Section):
        told = schema if section is Job else schema["$defs"].get(section.__name__)
        if told is not None:
            _describe(told, section)
    spot = schema["$defs"]["SpotSection"]
    spot["properties"]["boards"] = BOARDS
    spot["required"].remove("board")
    spot["oneOf"] = [{"required": ["board"]}, {"required": ["boards"]}]
    for seat in SEAT_NAMES:
        own = spot["properties"][seat]
        own["anyOf"] = [{"type": own.pop("type")}, RANGE_FILE]
    return {"$schema": DIALECT, **schema}


def _sections(above: type[Section]) -> Iterator[type[Section]]:
    for section in above.__subclasses__():
        yield section
        yield from _sections(section)


def _describe(told: dict[str, Any], section: type[Section]) -> None:
    """Put the docstrings of a section's keys, its parents' too, into its part of the schema."""
    for each in reversed(section.__mro__):
        if issubclass(each, Section):
            for name, text in _docstrings(each):
                key = section.model_fields[name].alias or name
                told["properties"][key]["description"] = text


def _docstrings(section: type[Section]) -> Iterator[tuple[str, str]]:
    """Names of the keys that a class has itself, and what stands below them."""
    (body,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(body, ast.ClassDef)
    for key, below in pairwise(body.body):
        if not isinstance(key, ast.AnnAssign) or not isinstance(key.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield key.target.id, inspect.cleandoc(str(below.value.value))
