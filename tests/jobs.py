"""Jobs that tests share, as dictionaries in the job file's form."""

import tomllib
from pathlib import Path

from spewy.job.job import Job
from spewy.look.solution import Solution
from spewy.run.session import Session

EXAMPLES = Path(__file__).parent.parent / "examples"

SUITED = """
name = "suited"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7s 2s"
pot = 100
stack = 250
oop = "AA,KQs,76s:0.5,KhJd"
ip = "KK,A2s-A3s,T9o"
[bets.flop]
bet = "50%, a"
raise = "3x"
[bets.turn]
bet = "50%"
[bets.river]
bet = "a"
donk = "30%"
"""
"""Hearts are not diamonds; clubs are neither: nothing but the identity leaves oop's range as it is."""

ALIKE = SUITED.replace(",KhJd", "")
"""Clubs, diamonds and hearts are the same."""

TURN = {
    "name": "turn",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {
        "board": "Qs Jh 2h 8c",
        "pot": 100,
        "stack": 200,
        "oop": "AA,QJs,T9s:0.5,76s",
        "ip": "KK,QTs,AhKh,JJ",
    },
    "bets": {"turn": {"bet": "50%", "raise": "a"}},
    "solve": {"target": "0.5%", "workers": 1},
}
"""A turn with few hands and one size, as nested dictionaries."""


def parsed_job(text):
    """A job from the text of its file."""
    return Job.of(tomllib.loads(text))


def toy(name, **solve):
    """A whole small game through the lockers."""
    options = {"variant": "cfr+", "leaves": "stored", "symmetry": False}
    options |= {"target": "0 chips", "check_every": 1000}
    return Job.of({"name": name, "game": {"file": name}, "solve": options | solve})


def example(name, *overrides):
    """One of the example jobs."""
    return Job.load(EXAMPLES / f"{name}.toml", overrides)


def solved(job):
    """The result of a solve in memory, and the view of what it stored."""
    session = Session(job)
    result = session.solve()
    return result, Solution(job, session.store)
