"""The fuzzing command: what its judge finds, that cases repeat, and a few hundred of them."""

import os
from pathlib import Path
from random import Random

import pytest
from cli_runs import POLARISED, good_json, write
from fuzz.judge import NOT_FORESEEN, Answer, answer_faults, session_faults
from fuzz.mutate import odd_job
from fuzz.spots import random_job
from fuzz.truth import lies
from fuzz.workers import prepare, run_cases
from joblib import cpu_count
from jobs import parsed_job


@pytest.fixture
def found_by_workers(monkeypatch):
    """Workers import the fuzzing from the folder of tests.

    An empty entry would stand for the current folder, and Python itself fails to start with it in a deleted folder.
    """
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(Path(__file__).parent), *others])))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer(("show", "--json"), 0, '{"ev": 1}', "a note\n"), None),
        (Answer(("show",), 2, "", "a note\nError: line: expected a decision\n"), None),
        (Answer(("check",), 1, "file: expected a page, found none\n", ""), None),
        (
            Answer(("solve",), 1, "", "Error: R1, sweep 10: expected a finite exploitability, found nan\n"),
            None,
        ),
        (Answer(("show", "--json"), 0, '{"ev": NaN}', ""), "expected JSON, found NaN"),
        (Answer(("show", "--json"), 0, "{", ""), "expected JSON"),
        (Answer(("show",), 0, "", ""), "expected a result on stdout"),
        (Answer(("show",), 0, "x", "Error: y"), "expected no error beside a result"),
        (Answer(("show",), 2, "x", "Error: y"), "expected nothing on stdout"),
        (Answer(("show",), 2, "", "Error: x\nError: y"), "expected one line of error"),
        (Answer(("show",), 2, "", "Error: x\nfound y"), "expected one line of error"),
        (Answer(("show",), 2, "", f"Error: {'x' * 1000}"), "expected lines of at most 1,000 characters"),
        (Answer(("show",), 1, "", f"Error: unexpected KeyError: 1 {NOT_FORESEEN}"), "that are foreseen"),
        (Answer(("show",), 1, "", "Error: x"), "expected exit code 0 or 2"),
        (Answer(("show",), 1, "", "", "Traceback"), "found a traceback"),
        (Answer(("show",), 0, "x", "a.py:1: RuntimeWarning: invalid value"), "expected no warnings"),
        (Answer(("show",), 130, "x", ""), "expected exit code 0 or 2"),
    ],
    ids=range(17),
)
def test_the_judge(answer, found):
    told = list(answer_faults(answer))
    assert (told == []) if found is None else any(found in fault for fault in told)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer(("play", "--json"), 1, '{"hands": 1}', "hands in a\nError: x\n"), None),
        (Answer(("play", "--json"), 1, "", "Error: x\n"), "expected a result on stdout"),
        (Answer(("play", "--json"), 1, "{", "Error: x\n"), "expected JSON"),
        (Answer(("play",), 1, "hands 1", "Error: x\nError: y\n"), "expected one line of error"),
        (Answer(("play",), 0, "hands 1", "Error: y\n"), "expected no error beside a result"),
    ],
    ids=range(5),
)
def test_the_judge_of_sessions(answer, found):
    told = list(session_faults(answer))
    assert (told == []) if found is None else any(found in fault for fault in told)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    return good_json("solve", write(folder, POLARISED), "--out", folder / "out")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, None),
        ({"exploitability": -1.0}, "exploitability of at least 0"),
        ({"exploitability": 50.0}, "expected converged to say"),
        ({"converged": False}, "expected 20000 sweeps or the target"),
        ({"ev": [60.0, 60.0]}, "expected EVs that sum to 100"),
        ({"ev": [400.0, -300.0]}, "between what can be lost and won"),
        ({"equity": [0.5, 0.6]}, "expected equities that sum to 1"),
        ({"trace": []}, "expected a trace"),
        ({"name": "another"}, "expected this job"),
    ],
    ids=range(9),
)
def test_what_no_solve_may_tell(change, found, told):
    wrong = list(lies(parsed_job(POLARISED), told | change))
    assert (wrong == []) if found is None else any(found in lie for lie in wrong)


def test_cases_repeat():
    def jobs():
        return [odd_job(rng, random_job(rng)) for rng in map(Random, range(40))]

    assert jobs() == jobs()
    assert len(set(jobs())) == 40


def test_a_case_that_takes_too_long_is_named(found_by_workers, tmp_path):
    ((number, found),) = run_cases(1, [7], tmp_path, 1, limit=1e-3)
    assert number == 7
    ends = ("was ended by SIGPROF", "exited with 1")  # by its work, or by the clock on a busy machine
    told = "expected it to end after 0.001 s of work: its process"
    assert found.faults in [(f"{told} {end}",) for end in ends]
    assert "most recent call first" in found.log


@pytest.mark.slow
def test_a_few_hundred_cases(found_by_workers, tmp_path):
    prepare(tmp_path)
    ran = run_cases(0, range(300), tmp_path, cpu_count())
    assert {number: found for number, found in ran if found.faults} == {}
