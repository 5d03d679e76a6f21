"""Rankings by the rules, against tables that were worked out by hand."""

from random import Random

import pytest

from spewy.competitions.tournament.standings import (
    Table,
    elo,
    lexicographic,
    online,
    place_of,
    qualified,
    qualifying_sets,
    runoff,
    voted,
)
from spewy.errors import InputError
from spewy.match.score import expected_score

# The two games of the example in the HIGC's rules.
G1 = Table(("A", "B", "C"), {("A", "B"): 2, ("A", "C"): 3, ("B", "C"): -1})
G2 = Table(("A", "B", "C"), {("A", "B"): -1, ("A", "C"): 2, ("B", "C"): 5})

# d is beaten by all. Without it: a has 10 - 4 = 6, b -10 + 8 = -2, c 4 - 8 = -4; then a beats b.
FOUR = Table(
    ("a", "b", "c", "d"),
    {
        ("a", "b"): 10,
        ("a", "c"): -4,
        ("a", "d"): 1,
        ("b", "c"): 8,
        ("b", "d"): 1,
        ("c", "d"): 100,
    },
)


def test_the_example_of_the_higc():
    first, second = voted(G1.names, G1.total), voted(G2.names, G2.total)
    assert first == [["A"], ["B"], ["C"]]
    assert second == [["B"], ["A"], ["C"]]
    ranking = lexicographic([first, second])
    assert ranking == [["A", "B"], ["C"]]
    assert place_of(ranking) == {"A": 1, "B": 1, "C": 3}


def test_votes_are_redistributed():
    """First choices are a, a, b, b, c. c goes, and its voter's next choice, b, has three of five."""
    ballots = {"a": "bcde", "b": "acde", "c": "bade", "d": "abce", "e": "cbad"}
    won = {}
    for voter, order in ballots.items():
        for i, other in enumerate(order):
            won[voter, other] = i - 4.0
    assert voted(tuple(ballots), lambda one, two: won[one, two])[0] == ["b"]


@pytest.mark.parametrize("names", ["ab", "abc", "cba", "badc"])
def test_bots_that_tie_in_everything_share_a_place(names):
    assert voted(tuple(names), lambda one, two: 0.0) == [list(names)]


@pytest.mark.parametrize("names", ["abcd", "dcba", "cadb"])
def test_the_order_of_names_decides_no_vote(names):
    """a, b and c tie with each other and win as much from d, whose vote they share."""
    found = voted(tuple(names), lambda one, two: float((two == "d") - (one == "d")))
    assert [sorted(place) for place in found] == [["a", "b", "c"], ["d"]]


def test_a_run_off_of_bankrolls():
    """The best total of all is c's, from d alone: the run-off takes it away again."""
    assert runoff(FOUR.names, FOUR.total) == [["a"], ["b"], ["c"], ["d"]]


def test_a_run_off_of_points():
    """Points: a +1 -1 +1, b -1 +1 +1, c +1 -1 +1, d -3. Without d all have none: they tie."""
    assert runoff(FOUR.names, FOUR.points) == [["a", "b", "c"], ["d"]]


def test_the_total_bankroll_decides_among_four():
    """Of five, e goes first; then c has -4... 4 - 8 + 100 = 96, a 10 - 4 + 1 = 7, b -10 + 8 + 1 = -1, d -102."""
    names = (*FOUR.names, "e")
    table = Table(names, {**FOUR.won, **{(name, "e"): 1000 for name in FOUR.names}})
    assert online(names, table.total) == [["c"], ["a"], ["b"], ["d"], ["e"]]


def test_a_tie_that_straddles_the_four_stays():
    names = ("a", "b", "c", "d", "e")
    won = {(one, two): 0 for i, one in enumerate(names) for two in names[i + 1 :]}
    table = Table(names, {**won, ("a", "d"): 3, ("a", "e"): 3})
    assert online(names, table.total) == [["a"], ["b", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    ("bots", "sizes"),
    [(11, [5, 6]), (12, [6, 6]), (13, [6, 7]), (16, [8, 8]), (17, [5, 6, 6]), (5, [5]), (4, [4])],
)
def test_sets_of_six(bots, sizes):
    names = [f"bot{i}" for i in range(bots)]
    sets = qualifying_sets(names, Random(3))
    assert sorted(map(len, sets)) == sizes
    assert sorted(name for group in sets for name in group) == sorted(names)
    assert sets == qualifying_sets(names, Random(3))


def test_three_proceed_or_more_in_a_tie():
    assert qualified(FOUR.names, FOUR.total) == ["a", "b", "c"]
    tied = Table(("a", "b", "c", "d"), dict.fromkeys(FOUR.won, 0))
    assert qualified(tied.names, tied.total) == ["a", "b", "c", "d"]


def test_elo_by_hand():
    """a and b are even: 12 * (0.8 - 0.5) = 3.6. Then a expects 1 / (1 + 10 ** (-3.6 / 400)) = 0.505181 from c."""
    found = elo(("a", "b", "c"), [("a", "b", 0.8), ("c", "a", 1.0)])
    assert expected_score(1503.6, 1500.0) == pytest.approx(0.505181, abs=1e-6)
    assert found["b"] == pytest.approx(1496.4)
    assert found["a"] == pytest.approx(1503.6 - 12 * 0.505181, abs=1e-4)
    assert found["c"] == pytest.approx(1500.0 + 12 * 0.505181, abs=1e-4)
    assert sum(found.values()) == pytest.approx(4500.0)


def test_ratings_far_apart_are_no_matter():
    assert (expected_score(-1e300, 1e300), expected_score(1e300, -1e300)) == pytest.approx((0.0, 1.0))
    assert elo(("a", "b"), [("a", "b", 1.0), ("b", "a", 0.0)], k=1e9) == {"a": 5e8 + 1500, "b": -5e8 + 1500}


def test_elo_of_games_that_are_none():
    for game in (("a", "x", 0.5), ("a", "a", 0.5), ("a", "b", 1.5)):
        with pytest.raises(InputError, match="expected two bots of the tournament"):
            elo(("a", "b"), [game])


def test_a_table_needs_all_pairs():
    with pytest.raises(InputError, match="the results of a against b are missing"):
        Table(("a", "b"), {})
