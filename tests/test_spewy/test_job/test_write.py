"""Texts of job files that are written from nested dictionaries."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jobs import ALIKE, SUITED, parsed_job

from spewy.job.presets import preset
from spewy.job.template import Answers, job_data, job_text
from spewy.job.write import write_job

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"))
NUMBER = st.integers(-(10**9), 10**9) | st.integers(0, 10**6).map(lambda n: n / 64) | st.booleans()
INNER = st.recursive(NUMBER | TEXT, lambda each: st.lists(each) | st.dictionaries(TEXT, each), max_leaves=6)
SECTIONS = st.sampled_from(("spot", "bets", "solve", "rows", "lock", "name", "own"))


@given(st.dictionaries(SECTIONS, INNER | st.dictionaries(TEXT, INNER, max_size=3)))
@settings(max_examples=300, deadline=None)
def test_what_was_written_is_read_again(data):
    text = write_job(data, ("A comment.",))
    assert tomllib.loads(text) == data
    assert text.startswith("# A comment.\n")


@pytest.mark.parametrize("text", [SUITED, ALIKE])
def test_a_job_file_that_is_written_anew_is_the_same_job(text):
    data = tomllib.loads(text)
    assert parsed_job(write_job(data)).manifest() == parsed_job(text).manifest()


def test_locks_are_tables_of_their_own():
    lock = {"line": "c", "strategy": {"Check": 1}, "hands": {"QQ+": [0.25, 0.75]}}
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
