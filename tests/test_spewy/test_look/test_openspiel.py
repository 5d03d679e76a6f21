"""Solutions as policies of OpenSpiel: Kuhn, Leduc, and other games as universal_poker; what it has not is named."""

import sys

import numpy as np
import pytest
from cli_runs import POLARISED, good, good_json, write
from jobs import solved, toy
from open_spiel.python.algorithms.exploitability import exploitability
from random_games import random_game_file

from spewy.errors import InputError, MissingError
from spewy.game.gamefile import parse_game
from spewy.job.job import Job
from spewy.look.solution import Solution

LIMIT = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 2 1
raiseSize = 2 2
firstPlayer = 2 1
maxRaises = 2 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""
"""As heads-up hold'em: the button has the small blind, begins, and is last to act after the deal."""

NO_LIMIT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 3 3
blind = 1 1
firstPlayer = 1 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""


def solved_game(folder, text, **more):
    file = write(folder, text, "small.game")
    return solved(Job.of({"name": "small", "game": {"file": str(file)}, "solve": {"max_sweeps": 30}, **more}))


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_small_game_is_as_exploitable_there_as_here(name):
    result, solution = solved(toy(name, max_sweeps=30))
    policy = solution.to_openspiel()
    assert str(policy.game) == f"{name}_poker()"
    assert exploitability(policy.game, policy) == pytest.approx(result.exploitability, abs=1e-9)


def no_limit(folder, *sizes):
    bets = {"bet": ", ".join(sizes), "raise": "a"}
    return solved_game(folder, NO_LIMIT, bets={"preflop": bets, "flop": bets})


def test_bets_without_a_limit_are_numbered_by_their_totals(tmp_path):
    result, solution = no_limit(tmp_path, "1c", "a")
    policy = solution.to_openspiel()
    assert "bettingAbstraction=fullgame" in str(policy.game)
    assert exploitability(policy.game, policy) == pytest.approx(result.exploitability, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_a_random_game_that_is_not_refused_is_the_same_game(seed, tmp_path):
    text, bets = random_game_file(np.random.default_rng(seed)), {}
    if "nolimit" in text:
        chips = {"bet": "1c, 2c, 3c, 4c, 5c, a", "raise": "1c, 2c, 3c, 4c, 5c, a"}
        bets = {"bets": dict.fromkeys(parse_game(text, "small").round_names, chips)}
    result, solution = solved_game(tmp_path, text, **bets)
    try:
        policy = solution.to_openspiel()
    except InputError as error:
        refused = str(error)
        assert "larger than all bets" in refused or "three cards" in refused
        return
    assert exploitability(policy.game, policy) == pytest.approx(result.exploitability, abs=1e-6)


@pytest.mark.parametrize(
    ("stack", "told"),
    [
        ("5 5", "OpenSpiel needs stacks larger than all bets of a limit game, .* found stacks of 5"),
        ("7 7", "OpenSpiel needs stacks larger than all bets of a limit game, .* found stacks of 7"),
        ("20 9", "OpenSpiel needs even stacks, .* found 20 and 9"),
        ("8 8", None),
    ],
)
def test_stacks_that_open_spiel_does_not_mind_are_refused(stack, told, tmp_path):
    """OpenSpiel's limit players put in up to 8 chips here, whatever their stacks: its exploitability would differ."""
    result, solution = solved_game(tmp_path, LIMIT.replace("blind =", f"stack = {stack}\nblind ="))
    if told is None:
        policy = solution.to_openspiel()
        assert str(policy.game).startswith("universal_poker(betting=limit,blind=2 1")
        assert exploitability(policy.game, policy) == pytest.approx(result.exploitability, abs=1e-6)
        return
    with pytest.raises(InputError, match=f"game small: {told}"):
        solution.to_openspiel()


def test_a_round_without_cards_follows_at_once(tmp_path):
    result, solution = solved_game(tmp_path, LIMIT.replace("numBoardCards = 0 1", "numBoardCards = 0 0"))
    policy = solution.to_openspiel()
    assert exploitability(policy.game, policy) == pytest.approx(result.exploitability, abs=1e-6)


def test_cards_before_the_first_action_are_for_deals(tmp_path):
    """A solve that walks through all boards ignored cards before the first action, and so solved another game."""
    text = LIMIT.replace("numBoardCards = 0 1", "numBoardCards = 1 0")
    with pytest.raises(InputError, match=r"public cards are dealt before.*add a section \[boards\]"):
        solved_game(tmp_path, text)
    file = write(tmp_path, text, "small.game")
    job = f'name = "small"\n[game]\nfile = "{file}"\n[boards]\n[solve]\ntarget = "0 mbb"\nmax_sweeps = 300\n'
    good("solve", write(tmp_path, job), "--out", tmp_path / "out")
    told = good_json("exploit", tmp_path / "out")["exploitability_mbb"]
    with Solution.open(tmp_path / "out") as solution:
        policy = solution.to_openspiel()
        assert exploitability(policy.game, policy) == pytest.approx(told * 2 / 1000, abs=1e-6)


def test_a_tree_that_lacks_bets_of_the_game_is_refused(tmp_path):
    _, solution = no_limit(tmp_path, "a")
    with pytest.raises(InputError, match=r"line '': expected all 3 actions of the game .* found 2"):
        solution.to_openspiel()


def test_showdowns_of_three_cards_go_by_other_rules_there(tmp_path):
    text = NO_LIMIT.replace("numHoleCards = 1", "numHoleCards = 2")
    _, solution = solved_game(tmp_path, text, bets={"preflop": {"bet": "a"}})
    with pytest.raises(InputError, match=r"three cards .*; the game has 2 in the hand and 1 on"):
        solution.to_openspiel()


def test_what_open_spiel_has_not_is_named(tmp_path):
    _, solution = solved(Job.load(write(tmp_path, POLARISED)))
    with pytest.raises(InputError, match="job polarised: expected a whole game for OpenSpiel, found a spot"):
        solution.to_openspiel()


def test_a_game_without_end_is_refused_before_the_work(monkeypatch):
    _, solution = solved(toy("leduc", max_sweeps=1))
    monkeypatch.setattr("spewy.look.openspiel.MOST_SETS", 100)
    with pytest.raises(InputError, match=r"leduc: expected at most 100 information sets for a table"):
        solution.to_openspiel()


def test_without_open_spiel_the_extra_is_named(monkeypatch):
    _, solution = solved(toy("kuhn", max_sweeps=1))
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(
        MissingError, match=r"kuhn: needs the package open_spiel.*pip install 'spewy\[higc\]'"
    ):
        solution.to_openspiel()
