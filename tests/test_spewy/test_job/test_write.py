"""Texts of job files that are written from nested dictionaries."""

import json
import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jobs import ALIKE, EXAMPLES, SUITED, parsed_job

from spewy.errors import InputError
from spewy.job.job import Job
from spewy.job.shipped import preset
from spewy.job.write import Answers, job_data, job_text, write_job

FILES = sorted(EXAMPLES.glob("*.toml"))
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"))
NUMBER = st.integers(-(10**9), 10**9) | st.integers(0, 10**6).map(lambda n: n / 64) | st.booleans()
INNER = st.recursive(NUMBER | TEXT, lambda each: st.lists(each) | st.dictionaries(TEXT, each), max_leaves=6)
SECTIONS = st.sampled_from(("spot", "bets", "solve", "rows", "lock", "name", "own"))


@given(st.dictionaries(SECTIONS, INNER | st.dictionaries(TEXT, INNER, max_size=3)))
@settings(max_examples=60)
def test_what_was_written_is_read_again(data):
    text = write_job(data, ("A comment.",))
    assert tomllib.loads(text) == data
    assert text.startswith("# A comment.\n")


@pytest.mark.parametrize("text", [SUITED, ALIKE])
def test_a_job_file_that_is_written_anew_is_the_same_job(text):
    data = tomllib.loads(text)
    assert parsed_job(write_job(data)).manifest() == parsed_job(text).manifest()


def test_locks_are_tables_of_their_own():
    lock = {"line": "c", "strategy": {"check": 1}, "hands": {"QQ+": [0.25, 0.75]}}
    text = write_job({"name": "locked", "solve": {"workers": 2}, "lock": [lock, lock]})
    assert text.count("[[lock]]\n") == 2
    assert 'hands = { "QQ+" = [0.25, 0.75] }\n' in text
    assert tomllib.loads(text)["lock"] == [lock, lock]


def test_keys_without_a_value_are_left_out():
    assert write_job({"name": "T1", "spot": {"rake": None, "pot": 5}}) == 'name = "T1"\n\n[spot]\npot = 5\n'


def test_a_new_job_says_what_its_ranges_are():
    answers = Answers.of(preset("hu-3bet"), (0, 17, 34), "drawn by --seed 3")
    text = job_text(answers)
    assert tomllib.loads(text) == job_data(answers)
    assert "    # drawn by --seed 3\n" in text
    assert "# oop, first to act: " in text
    assert "# oop always checks first" not in text  # oop was the last raiser


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_job_is_the_same_after_its_data_were_written_down(file):
    job = Job.load(file)
    job.problem  # noqa: B018 - what was computed plays no part
    again = Job.of(job.model_dump())
    assert again == job
    assert again.manifest() == job.manifest()
    assert Job.of(json.loads(json.dumps(job.model_dump(mode="json")))) == job
    assert again.replace(memory="77 GiB") != job


def test_replace_takes_every_key():
    job = Job.load(EXAMPLES / "T1.toml")
    other = job.replace(
        {"spot.board": "Qs Jh 2h 7c", "bets.turn.raise": "3x"}, target="0.1%", lock=["x: check"], name="other"
    )
    assert (other.spot.board, other.bets["turn"].raise_, other.solve.target) == ("Qs Jh 2h 7c", "3x", "0.1%")
    assert (other.name, len(other.lock), other.spot.oop) == ("other", 1, job.spot.oop)
    assert job.replace(**{"spot.pot": 100, "solve.max_sweeps": 7}) == job.replace(
        {"spot.pot": 100}, max_sweeps=7
    )
    assert job.replace() == job
    assert job.spot.board == "Qs Jh 2h 8c"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": "Qs Jh 2h 7c"}, "unknown key solve.board (nearest: spot.board)"),
        ("spot.pot=3", "changes: expected values by key"),
        ({3: 4}, "changes: expected values by key"),
        ({"spot.bord": "Qs Jh 2h 7c"}, "unknown key spot.bord"),
        ({"spot.board": "Qs Jh"}, "spot.board: expected 3, 4 or 5 cards"),
        ({"name.first": "x"}, "key 'name.first': expected name to be a section, found a value"),
        ({"spot.": "x"}, "spot."),
    ],
)
def test_replace_names_a_wrong_key(changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Job.load(EXAMPLES / "T1.toml").replace(changes)
