"""The job file's JSON Schema."""

import json
import tomllib

import pytest
from cli_runs import good
from jobs import EXAMPLES

from spewy.job.schema import job_schema
from spewy.job.shipped import preset, presets
from spewy.job.write import Answers, job_text

FILES = sorted(EXAMPLES.glob("*.toml"))


@pytest.fixture(scope="module")
def schema():
    return job_schema()


def valid(schema, data):
    jsonschema = pytest.importorskip("jsonschema")
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(data)]


def test_the_command_prints_it(schema):
    assert json.loads(good("schema")) == schema


def test_every_key_is_described(schema):
    for part in schema["$defs"].values():
        for key, told in part.get("properties", {}).items():
            assert told.get("description", "").endswith((".", "file", "job", "job.")), key


def test_it_is_a_schema(schema):
    pytest.importorskip("jsonschema").Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_example_is_valid(schema, file):
    assert not valid(schema, tomllib.loads(file.read_text()))


@pytest.mark.parametrize("name", presets())
def test_what_new_writes_is_valid(schema, name):
    assert not valid(schema, tomllib.loads(job_text(Answers.of(preset(name), (0, 13, 26), None))))


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True),
        ({"oop": {"file": "a.txt"}}, True),
        ({"board": None, "boards": ["Ks 9d 6h"]}, True),
        ({"boards": ["Ks 9d 6h"]}, False),
        ({"board": None}, False),
        ({"pot": -1}, False),
        ({"pot": 5.5}, True),
        ({"oop": {"path": "a.txt"}}, False),
        ({"pots": 1}, False),
    ],
)
def test_it_knows_what_a_spot_may_say(schema, change, right):
    spot = {"board": "Ks 9d 6h", "pot": 10, "stack": 90, "oop": "AA", "ip": "KK"} | change
    data = {"name": "x", "game": {"file": "doyle"}, "spot": {k: v for k, v in spot.items() if v is not None}}
    assert (not valid(schema, data)) == right


def test_unknown_keys_are_no_part_of_it(schema):
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())


@pytest.mark.parametrize(
    ("sections", "right"),
    [
        ({"solve": {"max_sweeps": 5}}, True),
        ({"solve": {"max_time": "8 h"}}, False),
        ({"solve": {"check_every": "30 min"}}, False),
        ({"boards": {"flop": 3}, "solve": {"max_time": "8 h", "check_every": "30 min", "cfr_br": 0.5}}, True),
        ({"boards": {"flop": 3}, "solve": {"variant": "dcfr"}}, False),
        ({"boards": {"flop": 3}, "rows": {"clustering": "ward"}}, False),
        ({"boards": {"flop": 3}, "lock": [{"line": "", "strategy": [1.0]}]}, False),
    ],
)
def test_it_knows_which_keys_go_together(schema, sections, right):
    assert (not valid(schema, {"name": "x", "game": {"file": "doyle"}} | sections)) == right
