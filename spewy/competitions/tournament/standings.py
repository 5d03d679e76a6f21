"""Rankings by the rules of three competitions, computed from the results of all pairs of bots.

A ranking is a list of places, the best first; each place is a list of the bots that share it.

- ACPC 2007: `runoff` by bankrolls or by points, `online`, `qualifying_sets` and `qualified`;
- HIGC: `voted` (instant run-off voting) for each game, then `lexicographic` over all games;
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
"""Function that returns a first bot's gain from a second bot, which equals the second bot's loss."""

SET_SIZE, PROCEED, MOST_FINALISTS, FEWER_THAN = 6, 3, 10, 10
"""Numbers of bots in qualifying rounds.

A set has `SET_SIZE` bots, and `PROCEED` bots of a set proceed. Rounds are played with more than `MOST_FINALISTS` bots,
until fewer than `FEWER_THAN` remain.
"""
BEST = 4
"""Number of bots that the online learning competition ranks by total bankroll."""


@dataclass(frozen=True)
class Table:
    """Results of all pairs of bots.

    Attributes:
        won: chips or points that the first bot of each pair won from the second bot; pairs are in the order of
            ``names``.
    """

    names: tuple[str, ...]
    won: Mapping[tuple[str, str], float]

    def __post_init__(self) -> None:
        for pair in self.pairs:
            if pair not in self.won:
                raise InputError(f"the results of {pair[0]} against {pair[1]} are missing")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(one, two) for i, one in enumerate(self.names) for two in self.names[i + 1 :]]

    def total(self, one: str, two: str) -> float:
        return self.won[one, two] if (one, two) in self.won else -self.won[two, one]

    def points(self, one: str, two: str) -> float:
        """Return the points of bot ``one`` against bot ``two``: 1 for a win, -1 for a loss, 0 for a tie."""
        total = self.total(one, two)
        return float((total > 0) - (total < 0))


def runoff(names: Sequence[str], worth: Worth) -> Ranking:
    """Rank bots by an instant run-off: each round eliminates the bots with the smallest gain from the remaining bots.

    ``worth`` returns a bot's gain from another bot, in chips or points.

    >>> table = Table(("a", "b", "c"), {("a", "b"): 1, ("a", "c"): -9, ("b", "c"): 20})
    >>> runoff(table.names, table.total)
    [['a'], ['b'], ['c']]
    """
    return _eliminated(names, worth, 0)[1]


def online(names: Sequence[str], total: Worth) -> Ranking:
    """Rank bots by the rules of the online learning competition.

    A run-off finds the best four bots, which are ranked by their total gains from each other. If a tie in the run-off
    would leave fewer than four bots, all tied bots stay. ``total`` returns a bot's total gain from another bot.
    """
    remaining, below = _eliminated(names, total, BEST)
    return by_rating(_sums(remaining, total)) + below


def qualifying_sets(names: Sequence[str], rng: Random) -> list[list[str]]:
    """Draw random sets of six bots.

    Up to four bots that are left over join these sets; five bots that are left over form a set of their own.
    """
    drawn = rng.sample(list(names), len(names))
    n_sets, n_rest = divmod(len(drawn), SET_SIZE)
    sets = [drawn[SET_SIZE * i : SET_SIZE * (i + 1)] for i in range(n_sets)]
    rest = drawn[SET_SIZE * n_sets :]
    if n_rest == SET_SIZE - 1 or not sets:
        return [*sets, rest] if rest else sets
    for i, name in enumerate(rest):
        sets[i % n_sets].append(name)
    return sets


def qualified(names: Sequence[str], total: Worth) -> list[str]:
    """Return the bots that proceed from a set: the three with the highest gains, and all that tie with the third.

    ``total`` returns a bot's total gain from another bot.
    """
    sums = _sums(names, total)
    bar = sorted(sums.values(), reverse=True)[min(PROCEED, len(names)) - 1]
    return [name for name in names if sums[name] >= bar]


def voted(names: Sequence[str], outcome: Worth) -> Ranking:
    """Rank bots by instant run-off voting, in which each bot votes for the remaining opponent that beat it most.

    A bot's total gain from all others breaks ties between opponents with equal results against a voter, and between
    candidates with equally few votes. Bots that still tie share a vote, are eliminated together, or share a
    place. The competition's rules leave these cases open. The order of the names does not matter. ``outcome`` returns
    a bot's gain from another bot.

    >>> table = Table(("A", "B", "C"), {("A", "B"): 2, ("A", "C"): 3, ("B", "C"): -1})
    >>> voted(table.names, table.total)
    [['A'], ['B'], ['C']]
    """
    strength = _sums(names, outcome)
    ballots = [_ballot(voter, names, outcome, strength) for voter in names]
    remaining, ranking = list(names), Ranking()
    while remaining:
        elected = _elected(remaining, ballots, strength)
        ranking.append(elected)
        remaining = [name for name in remaining if name not in elected]
    return ranking


def lexicographic(rankings: Sequence[Ranking]) -> Ranking:
    """Rank bots over all games: first by their worst place, then by their second worst place, and so on.

    >>> lexicographic([[["A"], ["B"], ["C"]], [["B"], ["A"], ["C"]]])
    [['A', 'B'], ['C']]
    """
    places = [place_of(ranking) for ranking in rankings]
    keys = {name: sorted((each[name] for each in places), reverse=True) for name in places[0]}
    ordered = sorted({tuple(key) for key in keys.values()})
    return [sorted(name for name, key in keys.items() if tuple(key) == each) for each in ordered]


def place_of(ranking: Ranking) -> dict[str, int]:
    """Return the number of each bot's place; n bots that tie for a place use up n numbers.

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
    """Compute Elo ratings after a sequence of games: (first bot, second bot, first bot's score from 0 to 1).

    >>> elo(["a", "b"], [("a", "b", 0.8)])
    {'a': 1503.6, 'b': 1496.4}
    """
    out = dict.fromkeys(names, start)
    for one, two, score in games:
        if one not in out or two not in out or one == two or not 0 <= score <= 1:
            raise InputError(
                f"game of {shown(one)} and {shown(two)}: expected two bots of the tournament and a score from 0 to 1, "
                f"found {shown(score)}"
            )
        out[one], out[two] = rated((out[one], out[two]), score, k)
    return out


def by_rating(ratings: Mapping[str, float]) -> Ranking:
    """Rank bots by their ratings, the highest first; equal ratings share a place."""
    ordered = sorted(set(ratings.values()), reverse=True)
    return [[name for name in ratings if ratings[name] == each] for each in ordered]


def _sums(names: Sequence[str], worth: Worth) -> dict[str, float]:
    return {one: math.fsum(worth(one, two) for two in names if two != one) for one in names}


def _eliminated(names: Sequence[str], worth: Worth, least: int) -> tuple[list[str], Ranking]:
    """Eliminate bots of smallest gain while ``least`` remain; return the others, and the ranking of the eliminated."""
    remaining, below = list(names), Ranking()
    while len(remaining) > least:
        sums = _sums(remaining, worth)
        lowest = [name for name in remaining if sums[name] == min(sums.values())]
        if len(remaining) - len(lowest) < least:
            break
        below.insert(0, lowest)
        remaining = [name for name in remaining if name not in lowest]
    return remaining, below


def _ballot(voter: str, names: Sequence[str], outcome: Worth, strength: Mapping[str, float]) -> Ranking:
    """Rank the other bots for a voter, the hardest opponent first; ``strength`` breaks ties."""

    def ease(other: str) -> tuple[float, float]:
        return outcome(voter, other), -strength[other]

    others = sorted((name for name in names if name != voter), key=ease)
    return [list(tied) for _, tied in groupby(others, key=ease)]


def _elected(names: Sequence[str], ballots: Sequence[Ranking], strength: Mapping[str, float]) -> list[str]:
    """Eliminate bots with the fewest votes until one has a majority, or all remaining bots tie; return the winners."""
    standing = list(names)
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
    """Count the ballots on which each remaining bot comes first; bots that tie on a ballot share its vote."""
    votes = dict.fromkeys(standing, Fraction(0))
    for ballot in ballots:
        choices = ([name for name in tied if name in votes] for tied in ballot)
        first = next(filter(None, choices), [])
        for name in first:
            votes[name] += Fraction(1, len(first))
    return votes
