"""Keys of a job that cannot have an effect are errors."""

import pytest

from spewy.errors import InputError
from spewy.job.job import Job

LIMIT = {"name": "limit", "game": {"file": "leduc"}}


def spot(bets, board="Td 9d 6h", **sections):
    return {
        "name": "spot",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {"board": board, "pot": 10, "stack": 10, "oop": "AA,JJ", "ip": "KK,QQ"},
        "bets": bets,
        **sections,
    }


A = {"bet": "a"}
WHOLE = {
    "name": "whole",
    "game": {"file": "doyle"},
    "bets": {"preflop": {"raise": "a", "oop": {"donk": "a"}}, "flop": A},
}


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ({"donk": "a"}, "donk"),
        ({"oop": {"donk": "a"}}, "oop.donk"),
        ({}, "neither"),
        ({"oop": {}, "donk": "a"}, "donk"),
    ],
)
def test_a_round_whose_section_has_neither_bet_nor_raise(section, named):
    """Such a section would silently remove the sizes that the river takes from the round before."""
    message = f"bets.river: expected the key bet or raise, found {named}: a section takes no sizes from"
    with pytest.raises(InputError, match=message):
        Job.of(spot({"flop": A, "river": section}))
    for more in ({"bet": ""}, {"ip": {"bet": "a"}}):
        Job.of(spot({"flop": A, "river": section | more}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (spot({"flop": A | {"donk": "a"}, "turn": A}), "bets.flop.donk has no effect, because the solve"),
        (spot({"flop": A | {"oop": {"donk": "a"}}, "turn": A}), "bets.flop.oop.donk has no effect"),
        (spot({"flop": A, "turn": A | {"ip": {"donk": "a"}}}), "bets.turn.ip.donk has no effect, because"),
        (spot({"flop": A | {"ip": {"donk": "a"}}}), "bets.flop.ip.donk has no effect, because only oop"),
        (spot({"river": A | {"donk": "a"}}, "Td 9d 6h 2c 3c"), "bets.river.donk has no effect"),
        (WHOLE, "bets.preflop.oop.donk has no effect, because the solve begins"),
        (LIMIT | {"bets": {"flop": {"donk": "a"}}}, "bets.flop: expected no sizes"),
        (LIMIT | {"tree": {"merge": 0.1}}, "tree.merge has no effect in the limit game 'leduc'"),
        (LIMIT | {"tree": {"min_bet": 2}}, "tree.min_bet has no effect"),
        (
            LIMIT | {"solve": {"iterations": 5, "order": "top-down"}},
            "solve.iterations: expected solve.leaves",
        ),
        (LIMIT | {"solve": {"order": "top-down"}}, 'solve.order: expected solve.leaves = "stored"'),
        (LIMIT | {"solve": {"tremble": 0.1}}, "solve.tremble has an effect only with solve.integrate ="),
    ],
)
def test_keys_without_effect(data, message):
    with pytest.raises(InputError) as error:
        Job.of(data)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "data",
    [
        spot({"flop": A | {"donk": "a"}}),  # the turn takes it
        spot({"flop": A, "turn": A | {"donk": "a"}}),
        spot({"flop": A | {"donk": "a"}, "turn": A}, "Td 9d 6h 2c"),  # a section of a round before the root
        spot({"flop": A | {"oop": {"donk": "a"}}}, "Td 9d 6h 2c"),
        WHOLE | {"bets": {"preflop": {"raise": "a", "donk": "a"}}},
        LIMIT | {"tree": {"merge": 0.0}},
        LIMIT | {"solve": {"leaves": "stored", "iterations": 5, "order": "top-down"}},
        LIMIT | {"solve": {"integrate": "average", "tremble": 0.1}},
    ],
)
def test_keys_with_effect(data):
    Job.of(data)
