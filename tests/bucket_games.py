"""A small game of three rounds in board buckets, and random strategies for it."""

import numpy as np
from fake_classes import CountedClasses

from benchmarks.bucket_games import BucketGame
from spewy.chunks.rounds import betting_rounds
from spewy.job.job import Job

TWO_SUITS = """
GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 10 5
raiseSize = 10 10 20
firstPlayer = 2 1 1
maxRaises = 2 1 2
numSuits = 2
numRanks = 6
numHoleCards = 2
numBoardCards = 0 3 1
END GAMEDEF
"""


class HandsOnTurns(CountedClasses):
    """Four rows before the turn; there each board is its own class, with a row for each hand."""

    def boards(self, t, boards):
        if t < 2:
            return super().boards(t, boards)
        rows = np.tile(np.arange(len(self.hands)), (len(boards), 1))
        rows[super().boards(t, boards)[1] < 0] = -1
        return np.array([board[3] for board in boards]), rows


def two_suits(folder):
    """Two cards of twelve, a flop and a turn."""
    (folder / "two.game").write_text(TWO_SUITS)
    problem = Job.of({"name": "two", "game": {"file": str(folder / "two.game")}}).problem
    betting, rows = betting_rounds(problem.tree), (3, 4, 66)
    return BucketGame(problem, betting, HandsOnTurns(problem.game, (1, 2, 52), rows), rows)


def random_strategies(game):
    """Random ones, for any class."""

    def of(t, board_bucket, r):
        rng = np.random.default_rng([t, board_bucket, r])
        n_slots = game.betting[t].chunks[r].forest.n_slots
        return tuple(rng.random((n, game.n_rows[t])) for n in n_slots)

    return of


def some_cards(game, n):
    """Of a board."""
    return tuple(game.problem.game.deck.cards[1::2][:n])
