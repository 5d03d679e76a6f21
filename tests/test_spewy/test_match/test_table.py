"""A hand as a step machine, and the loop between two bots over it."""

import itertools
from random import Random

import pytest
from stand_ins import choices, raiser

from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.match.table import Seat, Table, deals, decisions, play_hand

LIMIT, NO_LIMIT = load_game("holdem.limit.2p.reverse_blinds"), load_game("holdem.nolimit.2p.reverse_blinds")


@pytest.mark.parametrize(
    "game", [LIMIT, NO_LIMIT, load_game("leduc"), load_game("kuhn")], ids=lambda game: game.name
)
def test_random_hands_end_with_all_chips_accounted_for(game):
    rng = Random(1)
    for dealt, _ in zip(deals(game, 1), range(200), strict=False):
        table, boards, lines = Table(game, dealt), [], []
        while (player := table.to_act) is not None:
            assert set(table.legal) == set(choices(table.hand.betting))
            assert table.view(player).hole[player] == dealt.hole[player]
            assert table.view(player).hole[1 - player] is None
            lines.append(table.hand.betting.line)
            boards += table.step(rng.choice(table.legal))
        assert table.is_over
        assert table.legal == ()
        assert sum(table.result) == 0
        assert table.hand.board == (boards[-1] if boards else ())
        assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(boards))
        assert [before.betting.line for before, _ in decisions(table.hand)] == lines


def test_an_all_in_deals_the_rest_of_the_board():
    dealt = next(deals(NO_LIMIT, 3))
    table = Table(NO_LIMIT, dealt)
    assert table.step("r20000") == ()
    assert table.step("c") == (dealt.board[:3], dealt.board[:4], dealt.board)
    assert table.is_over


def test_folds_may_be_free():
    dealt = next(deals(LIMIT, 3))
    strict, free = Table(LIMIT, dealt), Table(LIMIT, dealt, free_folds=True)
    for table in (strict, free):
        table.step("c")
    assert (strict.legal, free.legal) == (("c", "r"), ("f", "c", "r"))
    with pytest.raises(InputError, match="expected c, r"):
        strict.step("f")
    free.step("f")
    assert free.result == (-10, 10)


def test_a_step_that_is_not_legal_changes_nothing():
    table = Table(NO_LIMIT, next(deals(NO_LIMIT, 3)))
    before = table.hand
    with pytest.raises(InputError):
        table.step("r150")
    assert table.hand is before


def test_bots_play_what_steps_play():
    dealt = next(deals(LIMIT, 5))
    played = play_hand(dealt, (Seat(raiser(LIMIT)), Seat(raiser(LIMIT))), LIMIT, (1, 2))
    table = Table(LIMIT, dealt)
    while not table.is_over:
        table.step(choices(table.hand.betting)[-1])
    assert played.hand == table.hand
    assert [step.action for step in played.steps] == [action for _, action in decisions(table.hand)]
