"""The directive ``job-keys``: a table for each section of a job file, from the schema that `spewy schema` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from spewy.job.schema import job_schema

TITLES = {
    "top": "Keys above all sections",
    "GameSection": "`[game]`",
    "SpotSection": "`[spot]`",
    "RakeSection": "`rake` in `[spot]`",
    "BetsSection": "`[bets.preflop]`, `[bets.flop]`, `[bets.turn]`, `[bets.river]`",
    "PlayerBets": "`oop` and `ip` in `[bets.ROUND]`",
    "TreeSection": "`[tree]`",
    "BoardsSection": "`[boards]`",
    "RowsSection": "`[rows]`",
    "SampledRows": "`[rows]` with `[boards]`",
    "WalkedSolve": "`[solve]`",
    "SampledSolve": "`[solve]` with `[boards]`",
    "DaskSection": "`[dask]`",
    "SaveSection": "`[save]`",
    "SampledSave": "`[save]` with `[boards]`",
    "LockSection": "`[[lock]]`",
}
"""Heading of each part of the schema, in the order of the page."""
SIGNS = {"exclusiveMinimum": "> ", "minimum": "≥ ", "exclusiveMaximum": "< ", "maximum": "≤ "}
UNLISTED_LIMIT = 10**9
"""Limits from this number on keep arithmetic exact, and say nothing to the author of a job."""


@dataclass(frozen=True)
class Key:
    """A key of a job file: what may stand there, and what it means."""

    name: str
    type: str
    default: str
    meaning: str


def sections() -> Iterator[tuple[str, str, list[Key]]]:
    """Yield the heading, the description and the keys of each section of a job file."""
    parts = job_schema()["$defs"]
    for name, title in TITLES.items():
        if name == "top":
            yield title, "", list(top_keys(parts))
        elif parts[name].get("properties"):
            yield title, parts[name]["description"], list(keys(parts[name], parts))


def top_keys(parts: dict[str, Any]) -> Iterator[Key]:
    """Yield the keys of a job that are not sections."""
    for key in keys(parts["SpotJob"], parts):
        if not key.type.startswith("section"):
            yield key


def keys(part: dict[str, Any], parts: dict[str, Any]) -> Iterator[Key]:
    """Yield the keys of a part of the schema."""
    required = part.get("required", ())
    for name, schema in part["properties"].items():
        if name in required:
            default = "required"
        elif "default" in schema and schema["default"] is not None and "$ref" not in schema:
            default = code(schema["default"])
        else:
            default = ""
        yield Key(f"`{name}`", type_text(schema, parts), default, " ".join(schema["description"].split()))


def type_text(schema: dict[str, Any], parts: dict[str, Any]) -> str:
    """Describe what may stand behind a key."""
    if "$ref" in schema:
        return f"section {TITLES[schema['$ref'].split('/')[-1]]}"
    if "anyOf" in schema:
        return " or ".join(type_text(each, parts) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return ", ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    if schema["type"] == "array":
        item = schema["items"]
        if "anyOf" in item:
            return " or ".join(type_text({"type": "array", "items": each}, parts) for each in item["anyOf"])
        return (
            f"list of {TITLES[item['$ref'].split('/')[-1]]}" if "$ref" in item else f"list of {item['type']}s"
        )
    if schema["type"] == "object":
        return object_text(schema, parts)
    limits = [
        sign + f"{schema[key]:,}"
        for key, sign in SIGNS.items()
        if schema.get(key, UNLISTED_LIMIT) < UNLISTED_LIMIT
    ]
    return " ".join([schema["type"], *([f"({', '.join(limits)})"] if limits else [])])


def object_text(schema: dict[str, Any], parts: dict[str, Any]) -> str:
    """Describe a table of TOML."""
    if "properties" in schema:
        return "table with " + ", ".join(f"`{name}`" for name in schema["properties"])
    values = schema["additionalProperties"]
    if "$ref" in values:
        return f"section {TITLES[values['$ref'].split('/')[-1]]}"
    return f"table of {type_text(values, parts)}"


def code(value: object) -> str:
    """Write a value as in TOML."""
    return f"`{json.dumps(value)}`"


def markdown() -> str:
    """All sections as Markdown."""
    lines = []
    for title, description, rows in sections():
        lines += [
            f"## {title}",
            "",
            description,
            "",
            "| key | type | default | meaning |",
            "|---|---|---|---|",
        ]
        lines += [
            "| "
            + " | ".join(cell.replace("|", "\\|") for cell in (row.name, row.type, row.default, row.meaning))
            + " |"
            for row in rows
        ]
        lines.append("")
    return "\n".join(lines)


class JobKeys(SphinxDirective):
    """``job-keys``: the tables of all sections."""

    def run(self) -> list[nodes.Node]:
        """Parse the tables as Markdown."""
        return self.parse_text_to_nodes(markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("job-keys", JobKeys)
    return {"parallel_read_safe": True}
