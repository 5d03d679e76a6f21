"""Cards that can follow, and their frequencies, against loops over all pairs of hands."""

from itertools import product

import pytest

import spewy
from buckets.cards import parse_cards

GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 2 1
raiseSize = 2 2
firstPlayer = 2 1
maxRaises = 2 2
numSuits = 2
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
JOB = """
name = "three cards"
[game]
file = '{game}'
[solve]
max_sweeps = 3
"""


@pytest.mark.parametrize("line", ["cc", "crrc"])
def test_three_cards_follow_with_the_frequency_that_both_ranges_leave(tmp_path, line):
    (tmp_path / "three.game").write_text(GAME)
    (tmp_path / "three.toml").write_text(JOB.format(game=tmp_path / "three.game"))
    solution = spewy.solve(spewy.Job.load(tmp_path / "three.toml"))
    ranges = [{}, {}]
    for end in range(len(line)):
        view = solution.node(line[:end]).to_json()
        name = {"c": ("call", "check"), "r": ("raise",)}[line[end]]
        (number,) = [n for n, action in enumerate(view["actions"]) if action.startswith(name)]
        hands = view["hands"].items()
        ranges[view["player"]] = {hand: each["reach"] * each["strategy"][number] for hand, each in hands}
    steps = solution.children(line)
    expected = [step.count * _weight(ranges, step.name) for step in steps]
    assert sum(step.count for step in steps) == 120  # of three cards of ten
    for step, weight in zip(steps, expected, strict=True):
        assert step.frequency == pytest.approx(weight / sum(expected))


def _weight(ranges, dealt):
    """Weight of all pairs of hands without a common card and without a dealt card."""
    total, gone = 0.0, set(parse_cards(dealt))
    for (mine, weight), (other, weight_of_other) in product(ranges[0].items(), ranges[1].items()):
        cards = [*parse_cards(mine), *parse_cards(other)]
        if len(set(cards)) == 4 and not gone & set(cards):
            total += weight * weight_of_other
    return total
