"""Best responses to a bot on a first board: as the judge of lockers has them, and as walking every answer has them."""

from contextlib import contextmanager

import numpy as np
import pytest
from bot_games import LIMIT_GAME, SHORT_GAME, folder_of

from benchmarks.studies.bot_judge import open_judge
from lockers import open_store
from spewy import open_policy
from spewy.bot.options import Options
from spewy.chunks.rounds import betting_rounds
from spewy.errors import InputError
from spewy.look.judging import Decoder
from spewy.records.strategy_locker import StrategyLocker

FEW_LINES = LIMIT_GAME.replace("maxRaises = 2 1 2 2", "maxRaises = 1 1 0 1").replace(
    "numRanks = 5", "numRanks = 4"
)


@pytest.fixture(
    scope="module",
    params=[FEW_LINES, pytest.param(SHORT_GAME, marks=pytest.mark.slow)],
    ids=["limit", "short"],
)
def folder(tmp_path_factory, request):
    return folder_of(tmp_path_factory.mktemp("game"), request.param, deals=60)


@contextmanager
def judging(folder, *, suits=True, **options):
    """A judge, by suits or not, and the lines that enter first boards."""
    with open_policy(folder) as policy:
        lines = [chunk.line for chunk in betting_rounds(policy.problem.tree)[1].chunks]
    with open_judge(folder, Options(**options, seconds=None), symmetric=suits) as judge:
        yield judge, lines


@contextmanager
def real_game(folder, temporary):
    """The judge of lockers."""
    with StrategyLocker(open_store(folder / "play", read_only=True)) as averages:
        decoder = Decoder.of(averages, folder / "play")
        decoder.write(temporary)
        yield decoder.game(temporary)


def first_boards(game):
    """A few, by number, with their cards."""
    histories, counts = game.trees.firsts
    return [(first, histories[first][-1]) for first in (0, len(counts) // 2)]


def test_a_bot_that_solves_nothing_is_judged_as_its_locker(folder, tmp_path):
    with real_game(folder, tmp_path) as game, judging(folder, resolve="never") as (judge, lines):
        desk = game.desk()
        kinds = game.trees.kinds
        for first, flop in first_boards(game):
            assert not judge.subgames(flop, lines)
            found = judge.judged(flop, lines, {}.__getitem__, 2)
            best = game.flop(first, desk).best
            mean = [
                [np.bincount(kinds, line) / np.bincount(kinds) for line in of_player]
                for of_player in found.best
            ]
            assert np.abs(np.array(mean) - best).max() < 1e-3 * np.abs(best).max()
            later = game.later(first, desk)
            for t, values in enumerate((found.best, found.own)):
                won = sum(
                    float(judge.reach(line)[p] @ values[p, r]) for p in (0, 1) for r, line in enumerate(lines)
                )
                assert game.trees.per_pair * won / 2 / game.n_pairs == pytest.approx(later[t], abs=1e-3)


@pytest.mark.parametrize(
    ("rounds", "safe"), [(2, None), (2, "cfr-d"), pytest.param(1, None, marks=pytest.mark.slow)]
)
def test_a_bot_that_solves_is_judged_as_it_answers(folder, rounds, safe):
    """The second route asks for every answer after the root of a subgame and walks it itself."""
    with judging(folder, suits=False, resolve="always", rounds=rounds, safe=safe, iterations=6) as (
        judge,
        lines,
    ):
        flop = tuple(judge.game.deck.cards[:3])
        few = lines[:1]
        found = {key: judge.below(key) for key in judge.subgames(flop, few)}
        assert found
        fast = judge.judged(flop, few, found.__getitem__, 2)
        judge.begins = lambda state: False
        slow = judge.judged(flop, few, {}.__getitem__, 2)
        for mine, other in zip(fast, slow, strict=True):
            assert np.abs(mine - other).max() < 1e-4 * np.abs(other).max()


def test_a_bot_that_is_not_repeatable_is_refused(folder):
    with pytest.raises(InputError, match="expected one thread and no time limit"):
        open_judge(folder, Options(), symmetric=True)
