"""Rankings by the rules of three competitions, computed from the results of all pairs of bots.

A ranking is a list of places, best first; bots that tie share a place.

- ACPC 2007: `runoff` with bankrolls or with points of series, `online`, `qualifying_sets` and `qualified`;
- HIGC: `voted` (instant run-off voting) for each game, `lexicographic` over games;
- UPAC: `elo`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from random import Random

from spewy.errors import InputError, shown
from spewy.match.score import START, K, rated

Ranking = list[list[str]]
Worth = Callable[[str, str], float]
"""Returns a first bot's gain from a second bot, which equals the second bot's loss."""

SET_SIZE, PROCEED, MOST_FINALISTS, FEWER_THAN = 6, 3, 10, 10
"""Qualifying rounds: bots in a set, bots that proceed, most bots without rounds, and when the rounds end."""
BEST = 4
"""Number of bots that the online learning competition ranks by total bankroll."""


@dataclass(frozen=True)
class Table:
    """Results of all pairs of bots.

    Attributes:
        names: names of the bots.
        won: by pair, in the order of the names, what the first bot won from the second.
    """

    names: tuple[str, ...]
    won: Mapping[tuple[str, str], float]

    def __post_init__(self) -> None:
        for pair in self.pairs:
            if pair not in self.won:
                raise InputError(f"results of {pair[0]} and {pair[1]}: expected some, found none")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs, in the order of the names."""
        return [(one, two) for i, one in enumerate(self.names) for two in self.names[i + 1 :]]

    def total(self, one: str, two: str) -> float:
        """Chips or points that one bot won from another in total."""
        return self.won[one, two] if (one, two) in self.won else -self.won[two, one]

    def points(self, one: str, two: str) -> float:
        """Points of one bot against another: 1 for a win, -1 for a loss, 0 for a tie."""
        total = self.total(one, two)
        return float((total > 0) - (total < 0))


def runoff(names: Sequence[str], worth: Worth) -> Ranking:
    """Instant run-off: in each round, eliminate the bots with the smallest sum against the remaining bots.

    >>> table = Table(("a", "b", "c"), {("a", "b"): 1, ("a", "c"): -9, ("b", "c"): 20})
    >>> runoff(table.names, table.total)
    [['a'], ['b'], ['c']]
    """
    left, out = list(names), Ranking()
    while left:
        lowest = _lowest(left, worth)
        out.insert(0, lowest)
        left = [name for name in left if name not in lowest]
    return out


def online(names: Sequence[str], total: Worth) -> Ranking:
    """Online learning competition: a run-off finds the best four, and their bankrolls against each other rank them.

    If a tie would leave fewer than four, all tied bots stay.
    """
    left, below = list(names), Ranking()
    while len(left) > BEST:
        lowest = _lowest(left, total)
        if len(left) - len(lowest) < BEST:
            break
        below.insert(0, lowest)
        left = [name for name in left if name not in lowest]
    sums = _sums(left, total)
    return [
        [name for name in left if sums[name] == each] for each in sorted(set(sums.values()), reverse=True)
    ] + below


def qualifying_sets(names: Sequence[str], rng: Random) -> list[list[str]]:
    """Draw random sets of six; up to four remaining bots join them, and five form their own set."""
    drawn = rng.sample(list(names), len(names))
    n_sets, left = divmod(len(drawn), SET_SIZE)
    sets = [drawn[SET_SIZE * i : SET_SIZE * (i + 1)] for i in range(n_sets)]
    rest = drawn[SET_SIZE * n_sets :]
    if left == SET_SIZE - 1 or not sets:
        return [*sets, rest] if rest else sets
    for i, name in enumerate(rest):
        sets[i % n_sets].append(name)
    return sets


def qualified(names: Sequence[str], total: Worth) -> list[str]:
    """Bots that proceed from a set: the three top bankrolls, and bots that tie with the third."""
    sums = _sums(names, total)
    bar = sorted(sums.values(), reverse=True)[min(PROCEED, len(names)) - 1]
    return [name for name in names if sums[name] >= bar]


def voted(names: Sequence[str], outcome: Worth) -> Ranking:
    """Instant run-off voting: each bot votes for its hardest unplaced opponent.

    Where the rules say nothing, the total that bots win from all others orders equally hard opponents, and choices with
    equally few votes. Bots that still tie share a vote, go together, or share a place. The order of the names does not
    matter.

    >>> table = Table(("A", "B", "C"), {("A", "B"): 2, ("A", "C"): 3, ("B", "C"): -1})
    >>> voted(table.names, table.total)
    [['A'], ['B'], ['C']]
    """
    strength = _sums(names, outcome)
    ballots = [_ballot(voter, names, outcome, strength) for voter in names]
    left, out = list(names), Ranking()
    while left:
        elected = _elected(left, ballots, strength)
        out.append(elected)
        left = [name for name in left if name not in elected]
    return out


def lexicographic(rankings: Sequence[Ranking]) -> Ranking:
    """Rank bots by their places over all games, sorted from the worst.

    >>> lexicographic([[["A"], ["B"], ["C"]], [["B"], ["A"], ["C"]]])
    [['A', 'B'], ['C']]
    """
    places = [place_of(ranking) for ranking in rankings]
    keys = {name: sorted((each[name] for each in places), reverse=True) for name in places[0]}
    ordered = sorted({tuple(key) for key in keys.values()})
    return [sorted(name for name, key in keys.items() if tuple(key) == each) for each in ordered]


def place_of(ranking: Ranking) -> dict[str, int]:
    """Place of each bot; after tied bots the following places stay empty.

    >>> place_of([["A", "B"], ["C"]])
    {'A': 1, 'B': 1, 'C': 3}
    """
    out: dict[str, int] = {}
    for names in ranking:
        out.update(dict.fromkeys(names, len(out) + 1))
    return out


def elo(
    names: Sequence[str], games: Iterable[tuple[str, str, float]], k: float = K, start: float = START
) -> dict[str, float]:
    """Compute Elo ratings after a sequence of games.

    Args:
        names: names of all bots.
        games: two bots and the first bot's share of the chips.
        k: largest change of a rating.
        start: rating that each bot begins with.

    >>> elo(["a", "b"], [("a", "b", 0.8)])
    {'a': 1503.6, 'b': 1496.4}

    Raises:
        InputError: a game is of other bots, or its score is no share.
    """
    out = dict.fromkeys(names, start)
    for one, two, score in games:
        if one not in out or two not in out or one == two or not 0 <= score <= 1:
            raise InputError(
                f"game of {shown(one)} and {shown(two)}: expected two of the bots and a score from 0 to 1, "
                f"found {shown(score)}"
            )
        out[one], out[two] = rated((out[one], out[two]), score, k)
    return out


def by_rating(ratings: Mapping[str, float]) -> Ranking:
    """Rank bots by their ratings."""
    ordered = sorted(set(ratings.values()), reverse=True)
    return [[name for name in ratings if ratings[name] == each] for each in ordered]


def _sums(names: Sequence[str], worth: Worth) -> dict[str, float]:
    return {one: math.fsum(worth(one, two) for two in names if two != one) for one in names}


def _lowest(names: Sequence[str], worth: Worth) -> list[str]:
    sums = _sums(names, worth)
    return [name for name in names if sums[name] == min(sums.values())]


def _ballot(voter: str, names: Sequence[str], outcome: Worth, strength: Mapping[str, float]) -> Ranking:
    """Rank the other bots for a voter, the hardest first, with ties."""

    def ease(other: str) -> tuple[float, float]:
        return outcome(voter, other), -strength[other]

    others = sorted((name for name in names if name != voter), key=ease)
    return [list(tied) for _, tied in groupby(others, key=ease)]


def _elected(left: Sequence[str], ballots: Sequence[Ranking], strength: Mapping[str, float]) -> list[str]:
    """Find bots with a majority of first places, after eliminating candidates with the fewest votes."""
    standing = list(left)
    while True:
        votes = _votes(standing, ballots)
        cast = sum(votes.values())
        winner = [name for name in standing if 2 * votes[name] > cast]
        if winner or len(standing) == 1:
            return winner or standing
        keys = {name: (votes[name], strength[name]) for name in standing}
        out = [name for name in standing if keys[name] == min(keys.values())]
        if len(out) == len(standing):
            return standing
        standing = [name for name in standing if name not in out]


def _votes(standing: Sequence[str], ballots: Sequence[Ranking]) -> dict[str, Fraction]:
    """Number of first places for each remaining bot; tied bots share a vote."""
    votes = dict.fromkeys(standing, Fraction(0))
    for ballot in ballots:
        choices = ([name for name in tied if name in votes] for tied in ballot)
        first = next(filter(None, choices), [])
        for name in first:
            votes[name] += Fraction(1, len(first))
    return votes
