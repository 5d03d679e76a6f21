"""The JSON Schema of job files, for editors; pydantic makes it from the sections and their docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import models_json_schema

from spewy.game.names import SEAT_NAMES
from spewy.job.job import GameJob, Job, SampledJob, SpotJob
from spewy.job.sections import Section

__all__ = ["job_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS: tuple[type[Job], ...] = (SpotJob, GameJob, SampledJob)
BOARDS = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "List of boards, instead of board; the job becomes a batch with one job for each board.",
}
RANGE_FILE = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "description": "Text file; its path is relative to the job file."},
        "order": {"enum": ["pio", "spewy"], "description": "Order of the hands in a list of 1326 numbers."},
    },
    "required": ["file"],
    "additionalProperties": False,
}

LOCK_TEXT = {"type": "string", "description": 'Text of a lock, such as "x b120 [QQ+]: call=0.8, fold".'}


def job_schema() -> dict[str, Any]:
    """Make the schema of a job file, with one alternative each for spots, whole games and games with board buckets.

    The schema also allows lists of boards and range files, which are replaced before pydantic validates a job.
    """
    _, schema = models_json_schema([(kind, "validation") for kind in KINDS], by_alias=True)
    parts = schema["$defs"]
    for section in _sections(Section):
        if section.__name__ in parts:
            _describe(parts[section.__name__], section)
    for key in ("spot", "boards"):
        del parts[GameJob.__name__]["properties"][key]
    del parts[SpotJob.__name__]["properties"]["boards"]
    spot = parts["SpotSection"]
    spot["properties"]["boards"] = BOARDS
    spot["required"].remove("board")
    spot["oneOf"] = [{"required": ["board"]}, {"required": ["boards"]}]
    for seat in SEAT_NAMES:
        own = spot["properties"][seat]
        own["anyOf"] = [{"type": own.pop("type")}, RANGE_FILE]
    for kind in (GameJob, SpotJob):
        locks = parts[kind.__name__]["properties"]["lock"]
        locks["items"] = {"anyOf": [locks["items"], LOCK_TEXT]}
    kinds = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS]
    return {"$schema": DIALECT, "title": "Job", "description": Job.__doc__, "anyOf": kinds, "$defs": parts}


def _sections(base: type[Section]) -> Iterator[type[Section]]:
    for derived in base.__subclasses__():
        yield derived
        yield from _sections(derived)


def _describe(part: dict[str, Any], section: type[Section]) -> None:
    """Remove the keys of a section that have no effect, and describe all other keys by their docstrings."""
    for key in section.without_effect:
        part["properties"].pop(key, None)
    docstrings: dict[str, str] = {}
    for cls in reversed(section.__mro__):
        if issubclass(cls, Section):
            docstrings |= _docstrings(cls)
    for name, field in section.model_fields.items():
        key_schema = part["properties"].get(field.alias or name)
        if key_schema is not None:
            key_schema["description"] = docstrings[name]


def _docstrings(section: type[Section]) -> dict[str, str]:
    """Read the docstring below each key of a section from the section's source.

    Pydantic can do this too, but it would read the sources at each import, which takes longer than a small solve.
    """
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        key.target.id: inspect.cleandoc(text.value.value)
        for key, text in zip(definition.body, definition.body[1:], strict=False)
        if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name)
        if isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
