"""Solved spots as games: deals, results and values held against loops over everything that can happen."""

from collections import Counter
from shutil import copytree

import numpy as np
import pytest
from cli_runs import write
from naive_spots import enumerate_hands, enumerate_pairs, names, solve, solved, unraked

from buckets.cards import blocked, cards_name, parse_cards, permute_cards, suit_permutations
from spewy import Player
from spewy.errors import InputError, NotSolvedError
from spewy.game.hand import Hand
from spewy.job.job import Job
from spewy.match.spots import SpotBot, Spots, holds_spots
from spewy.run.session import Session

DRAWS = 4000


@pytest.fixture
def river(solved_spots):
    with Spots(solved_spots / "river") as spots:
        yield spots.first


def close_to(counts, chances, n):
    """Whether counts of n draws are those of some probabilities, within five standard errors."""
    assert set(counts) <= {key for key, chance in chances.items() if chance > 0}
    for key, chance in chances.items():
        assert abs(counts[key] - n * chance) < 5 * np.sqrt(n * chance * (1 - chance)) + 1e-9, key


def test_hands_are_dealt_with_the_probabilities_of_a_loop_over_all_pairs(river):
    rng = np.random.default_rng(1)
    counts = Counter(names(river.deal(rng).hole) for _ in range(DRAWS))
    close_to(counts, {names(pair): chance for pair, chance in enumerate_pairs(river).items()}, DRAWS)


def test_later_cards_come_from_the_rest_of_the_deck(solved_spots):
    with Spots(solved_spots / "turn") as spots:
        rng, spot = np.random.default_rng(2), spots.first
        deals = [spot.deal(rng) for _ in range(DRAWS)]
        chances = Counter()
        for pair, chance in enumerate_pairs(spot).items():
            left = [card for card in range(52) if card not in {*pair[0], *pair[1], *spot.board}]
            for card in left:
                chances[card] += chance / len(left)
        close_to(Counter(dealt.board[4] for dealt in deals), chances, DRAWS)
        assert {dealt.board[:4] for dealt in deals} == {spot.board}


def test_a_spot_is_a_bot_for_programs(solved_spots):
    with Spots(solved_spots / "turn") as spots:
        spot, found = spots.first, set()
        for seed in range(20):
            player, dealt = Player(SpotBot(spot)), spot.deal(np.random.default_rng(seed))
            player.new_hand(dealt.hole[0], seat=0, seed=seed)
            player.observe(dealt.board[:4])
            mix, (actions, alone) = player.strategy(), spot.strategy(player.hand, dealt.hole[0])
            assert mix.actions == tuple(action.acpc for action in actions)
            np.testing.assert_array_equal(mix.of(spot.game.hand_number(dealt.hole[0])), alone)
            action = player.act()
            assert alone[mix.actions.index(action)] > 0
            player.observe(action)
            found.add(action)
            with pytest.raises(InputError, match="the other player's turn"):
                player.act()
    assert found == {"c", "r50"}


@pytest.mark.parametrize("name", ["river", "turn"])
def test_results_of_both_strategies_average_to_the_values_at_the_root(solved_spots, name):
    with Spots(solved_spots / name) as spots:
        spot, totals, mass = spots.first, np.zeros(2), 0.0
        for hand, chance in enumerate_hands(spot, solved):
            totals += chance * np.array([spot.won(hand, 0), spot.won(hand, 1)])
            mass += chance
        assert mass == pytest.approx(1)
        assert totals == pytest.approx(spot.values, abs=1e-4)  # values at deals have single precision


def hand_of(spot, hole, line):
    hand = Hand.start(spot.game, tuple(map(parse_cards, hole))).deal(spot.board)
    for action in line:
        hand = hand.apply(action)
    return hand


@pytest.mark.parametrize(
    ("hole", "line", "won"),
    [
        (("AhAs", "KhKc"), ("c", "c"), (190, 0)),  # 5 % of the pot of 200
        (("AhAs", "KhKc"), ("r100", "c"), (280, -100)),  # 5 % of 400
        (("AhAs", "KhKc"), ("r900", "c"), (1060, -900)),  # at most 40
        (("AhAs", "KhKc"), ("r100", "f"), (190, 0)),
        (("AhAs", "KhKc"), ("r100", "r900", "f"), (-100, 280)),
        (("7h6h", "KhKc"), ("r100", "c"), (-100, 280)),
        (("QcJc", "QdJd"), ("r100", "c"), (90, 90)),  # split after rake
    ],
)
def test_results_are_shares_of_the_pot(river, hole, line, won):
    hand = hand_of(river, hole, line)
    assert (river.won(hand, 0), river.won(hand, 1)) == won


def test_the_range_after_a_line_is_that_of_show(river):
    for line in (("c",), ("r100",), ("r100", "f"), ("c", "r100", "c")):
        hand = hand_of(river, ("AhAs", "KhKc"), line)
        weights = river.range_of(hand, 0, parse_cards("AsQd"))
        expected = np.array(river.problem.ranges[0])
        expected *= 1 if river.problem.units is None else river.problem.units[0]
        now = hand_of(river, ("AhAs", "KhKc"), ())
        for action in line:
            if now.to_act == 0:
                decision = river.solution.reads.policy.decision(now.betting.line)
                taken = [each.acpc for each in decision.actions].index(action)
                expected[decision.hands] *= decision.frequencies[taken]
            now = now.apply(action)
        expected[blocked(river.problem.hands, parse_cards("AsQd"))] = 0
        assert weights == pytest.approx(expected)


def test_boards_of_a_batch_are_drawn_by_how_often_they_come(solved_spots):
    with Spots(solved_spots / "boards") as spots:
        assert len(spots) == 3
        rng = np.random.default_rng(3)
        counts = Counter(cards_name(spots.draw(rng).board) for _ in range(DRAWS))
        weights = {}
        for path in (solved_spots / "boards").iterdir():
            with Spots(path) as single:
                spot = single.first
                perms = suit_permutations(spot.game.deck)
                ways = {tuple(sorted(permute_cards(spot.board, perm))) for perm in perms}
                weights[cards_name(spot.board)] = len(ways) * sum(all_pairs(spot))
        close_to(counts, {name: weight / sum(weights.values()) for name, weight in weights.items()}, DRAWS)


def all_pairs(spot):
    """Weight of each pair of hands of the job's ranges that can be dealt on a board."""
    oop, ip = (each.weights for each in spot.solution.job.ranges)
    for i in oop.nonzero()[0]:
        for j in ip.nonzero()[0]:
            if len({*spot.problem.hands[i], *spot.problem.hands[j], *spot.board}) == 9:
                yield oop[i] * ip[j]


def test_a_board_that_is_not_solved_yet_is_left_out(solved_spots, tmp_path):
    job = Job.load(write(tmp_path, unraked("Ah 9h 5h 4h 2h")))
    Session(job, tmp_path / "batch" / "Ah9h5h4h2h").close()
    with pytest.raises(NotSolvedError, match="not solved yet"):
        Spots(tmp_path / "batch")
    copytree(solved_spots / "boards" / "QsJh2h8c3d", tmp_path / "batch" / "QsJh2h8c3d")
    with Spots(tmp_path / "batch") as spots:
        boards = {cards_name(spots.draw(np.random.default_rng(number)).board) for number in range(20)}
    assert boards == {"QsJh2h8c3d"}


def test_which_folders_hold_spots(solved_spots, tmp_path):
    assert holds_spots(solved_spots / "river")
    assert holds_spots(solved_spots / "boards")
    assert not holds_spots(tmp_path)
    assert not holds_spots(tmp_path / "none")
    kuhn = 'name = "Kuhn"\n[game]\nfile = "kuhn"\n[solve]\nmax_sweeps = 10\n'
    whole = solve(tmp_path, kuhn, "kuhn")
    assert not holds_spots(whole)
    with pytest.raises(InputError, match="expected a spot, which has a board, found a whole game"):
        Spots(whole)


def test_solves_of_different_spots_are_no_batch(solved_spots):
    text = r"expected the same \w+ as in .*, found another; give the folder of one solve or of one batch"
    with Spots(solved_spots) as spots, pytest.raises(InputError, match=text):
        [spots.draw(np.random.default_rng(number)) for number in range(50)]
