"""One decision from a store: as a solution that lays everything out has it, and as the flat arrays say by hand."""

from collections import deque
from itertools import combinations

import naive_cards
import numpy as np
import pytest
from cli_runs import LEDUC, TURN, good, write
from jobs import ALIKE, example, parsed_job, toy

from buckets.cards import cards_name, hand_name, parse_cards, parse_hand
from lockers import MemoryStore, open_store
from solvers.state import normalised
from spewy import open_policy
from spewy.errors import InputError
from spewy.look.solution import Solution
from spewy.records.keys import STRATEGY
from spewy.records.policy import ChunkPolicy
from spewy.run.session import Session

FEW = {"max_sweeps": 3, "target": "0 chips"}
LOCKS = """
[[lock]]
line = ""
hands = { KQs = [0.25, 0.5, 0.25], 76s = [1, 0, 0] }
[[lock]]
line = "cc/"
board = "Qs 7s 2s 3s"
hands = { AA = [0.125, 0.875] }
"""

JOBS = {
    "Leduc, stored": lambda: toy("leduc", **FEW),
    "Leduc, average": lambda: toy("leduc", integrate="average", **FEW),
    "Leduc, live, suits alike": lambda: toy("leduc", leaves="live", symmetry=True, **FEW),
    "Kuhn": lambda: toy("kuhn", **FEW),
    "a river": lambda: example("R1", "solve.max_sweeps=3"),
    "a turn": lambda: parsed_job(TURN + "max_sweeps = 3\n"),
    "16 bits": lambda: parsed_job(TURN + 'max_sweeps = 3\nprecision = "16-bit"\n'),
    "buckets, then hands": lambda: parsed_job(TURN + "max_sweeps = 2\n[rows]\nturn = 2\n"),
    "own buckets": lambda: parsed_job(TURN + 'max_sweeps = 2\n[rows]\nturn = 2\nweights = "ranges"\n'),
    "locks": lambda: parsed_job(ALIKE + LOCKS + "[solve]\nmax_sweeps = 2\n"),
}


def solved(made):
    """What a short solve leaves in memory: the solution, and the policy of the same store."""
    session = Session(made)
    session.solve()
    return Solution(made, session.store), ChunkPolicy(made.problem, session.store)


def decisions(made, every=1):
    found = {}
    for node in list(made.betting_tree.nodes())[::every]:
        if node.kind == "decision":
            found.setdefault(node.round, []).append(node.line)
    return found


def boards(made, t, every=1):
    """All that can be dealt until round t of the game; where they are more than so many, every so manyth."""
    game, root = made.rules, made.board
    sizes = game.num_board_cards[made.tree_config.start_round + 1 : t + 1]
    left = [card for card in game.deck.cards if card not in root]
    out = [root]
    for size in sizes:
        out = [
            (*board, *dealt)
            for board in out
            for dealt in combinations([c for c in left if c not in board], size)
        ]
    return out[:: every if len(out) > every else 1]


def agree(solution, policy, line, board):
    node, found = solution.node(line, board), policy.decision(line, board)
    assert (found.player, found.line, found.board) == (node.player, node.line, node.board)
    assert tuple(action.label for action in found.actions) == node.actions
    assert list(found.hands) == sorted(found.hands)
    assert sorted(found.names) == sorted(node.hands)
    place = [node.hands.index(name) for name in found.names]
    np.testing.assert_array_equal(found.frequencies, node.strategy[:, place])


@pytest.mark.parametrize("name", JOBS)
def test_as_a_solution_has_it(name):
    made = JOBS[name]()
    solution, policy = solved(made)
    for t, lines in decisions(made).items():
        for board in boards(made, t, 1 if made.rules.num_hole_cards == 1 else 97):
            for line in lines:
                agree(solution, policy, line, board)


@pytest.mark.slow
def test_buckets_on_the_turn_and_hands_on_the_river():
    made = example("T1", "rows.turn=40", "solve.max_sweeps=1")
    solution, policy = solved(made)
    for t, lines in decisions(made, 5).items():
        for board in boards(made, t, 23):
            for line in lines:
                agree(solution, policy, line, board)
    root = policy.decision()
    assert len(np.unique(root.frequencies, axis=1).T) <= 40 < len(root.hands)


@pytest.fixture(scope="module")
def alike():
    """Three suits are the same, and ranges reach the river with hands of different weights."""
    return solved(parsed_job(ALIKE + "[solve]\nmax_sweeps = 2\n"))


@pytest.mark.parametrize("line", ["", "c", "cc/", "cc/cc/", "cr50c/cr150c/c"])
def test_boards_that_are_the_same_up_to_suits(alike, line):
    """Clubs for diamonds, on the board and in the hands: the same frequencies."""
    _, policy = alike
    swap = {"c": "d", "d": "c"}

    def other(text):
        return "".join(swap.get(sign, sign) for sign in text)

    board = "Qs 7s 2s " + " ".join(["3d", "8c"][: line.count("/")])
    one, two = policy.decision(line, board), policy.decision(line, other(board))
    assert len(one.hands) == len(two.hands) > 0
    for name, column in zip(one.names, one.frequencies.T, strict=True):
        np.testing.assert_array_equal(policy.frequencies(line, other(board), other(name)), column)
        np.testing.assert_array_equal(policy.frequencies(line, board, name), column)
        np.testing.assert_array_equal(policy.frequencies(line, board, parse_hand(name)[::-1]), column)
        named = policy.action_probabilities(line, board, name)
        assert named == dict(zip((action.label for action in one.actions), column.tolist(), strict=True))


def naive_frequencies(made, store, line, board, hand):
    """From the flat array under the key, by the paper: nothing but loops."""
    groups, at = [], 0
    for size in made.rules.num_board_cards[: made.betting_tree.find(line).round + 1]:
        groups += [sorted(board[at : at + size])] if size else []
        at += size
    entered = line[: line.rfind("/") + 1]
    prefix = f"{made.betting_tree.find(line).round}.{'/'.join(map(cards_name, groups))}|{entered}|".encode()
    (key,) = store.keys(STRATEGY, prefix)
    flat = store.get(STRATEGY, key).tolist()
    held = []
    for p in (0, 1):
        mine = [
            cards
            for number, cards in enumerate(combinations(range(52), 2))
            if made.weights[p][number] > 0 and not {*cards} & {*board}
        ]
        if len(board) == 5:
            mine.sort(key=lambda cards: naive_cards.strength_key((*cards, *board)))
        held.append(mine)
    place, slots, found = 0, [0, 0], {}
    queue = deque([made.betting_tree.find(entered)])
    while queue:
        node = queue.popleft()
        if node.kind == "decision":
            found[node.line] = node, slots[node.player]
            slots[node.player] += len(node.actions)
            queue.extend(node.children)
    node, first = found[line]
    place = slots[0] * len(held[0]) if node.player == 1 else 0
    mine, row = held[node.player], held[node.player].index(tuple(sorted(hand)))
    sums = [max(flat[place + (first + a) * len(mine) + row], 0.0) for a in range(len(node.actions))]
    return [one / sum(sums) if sum(sums) else 1 / len(sums) for one in sums]


@pytest.mark.parametrize("line", ["", "cr50", "cc/", "r50c/c", "r50c/cr100"])
def test_as_the_flat_array_says(line):
    """On a turn whose suits all differ, so that boards are solved as they are."""
    made = parsed_job(TURN + "max_sweeps = 4\nsymmetry = false\n")
    solution, policy = solved(made)
    for board in boards(made, made.betting_tree.find(line).round, 7):
        found = policy.decision(line, board)
        for number, column in zip(found.hands, found.frequencies.T, strict=True):
            hand = [int(card) for card in found.deck[number]]
            expected = naive_frequencies(made, solution.store, line, board, hand)
            np.testing.assert_allclose(column, expected, rtol=1e-12)
            assert hand_name(hand) in found.names


def test_normalised_as_solvers_do_it():
    from solvers.reference.kernels import match
    from solvers.tree import Chance, Decision, Forest

    rng = np.random.default_rng(5)
    leaves = iter(range(11))
    forest = Forest.build([Decision(0, tuple(Chance(next(leaves)) for _ in range(11)))])
    sums = rng.normal(size=(11, 67))
    sums[:, ::9] = -1
    expected = np.empty_like(sums)
    match(forest.arrays, 0, sums, expected)
    np.testing.assert_array_equal(normalised(sums), expected)


def test_units_of_weights_do_not_matter():
    found = []
    for scale in ("", ":0.4"):
        text = TURN.replace("AhAd,KdQd,JcTc", ",".join(f"{h}{scale}" for h in ("AhAd", "KdQd", "JcTc")))
        found.append(solved(parsed_job(text + "max_sweeps = 3\n"))[1].decision("cc/", "Qs 7h 2d 3c 5h"))
    np.testing.assert_array_equal(found[0].frequencies, found[1].frequencies)
    assert found[0].names == found[1].names


def test_what_is_committed_meanwhile_is_seen(tmp_path):
    solve = ("solve", write(tmp_path, LEDUC), "--out", tmp_path / "out")
    good(*solve, "--set", "solve.max_sweeps=2")
    with open_policy(tmp_path / "out") as policy:
        before = policy.decision("cc/", "Kh")
        with open_store(tmp_path / "out") as store:
            (key,) = store.keys(STRATEGY, b"1.Kh|cc/|")
            array = store.get(STRATEGY, key)
            array[:] = np.arange(len(array))
            store.transact(lambda txn: txn.put(STRATEGY, key, array))
            between = policy.decision("cc/", "Kh")
        assert not np.array_equal(between.frequencies, before.frequencies)
        _, n = before.frequencies.shape
        expected = [(n + row) / (n + 2 * row) for row in range(n)]  # of rows in order of strength
        np.testing.assert_allclose(sorted(between.frequencies[1]), sorted(expected))
        good(*solve, "--set", "solve.max_sweeps=5")
        with Solution.open(tmp_path / "out") as solution:
            for t, lines in decisions(solution.job).items():
                for board in boards(solution.job, t):
                    for line in lines:
                        agree(solution, policy, line, board)


def test_a_solve_that_has_not_swept_yet():
    made = toy("leduc", **FEW)
    store = MemoryStore(made.manifest())
    policy = ChunkPolicy(made.problem, store)
    with pytest.raises(InputError, match="line '': expected a stored strategy, found no finished sweep"):
        policy.decision()
    session = Session(made)
    session.solve()
    later = ChunkPolicy(made.problem, session.store).decision("cc/", "Kh")
    assert later.frequencies.shape == (2, 5)


def test_dropped_rounds_are_told(tmp_path):
    good("solve", write(tmp_path, TURN), "--out", tmp_path / "out", "--set", "solve.max_sweeps=3")
    with open_policy(tmp_path / "out") as policy:
        expected = policy.decision("c").frequencies
    good("drop", tmp_path / "out", "--round", "river")
    with open_policy(tmp_path / "out") as policy:
        np.testing.assert_array_equal(policy.decision("c").frequencies, expected)
        with pytest.raises(InputError, match="line 'cc/': expected a stored strategy, found river dropped; "):
            policy.decision("cc/", "Qs 7h 2d 3c 5h")


BOARD = "Qs 7s 2s 3d"


@pytest.mark.parametrize(
    ("line", "board", "hand", "told"),
    [
        ("cr7", None, "AhAd", r"line 'cr7', position 1: expected one of .*; found 'r7'"),
        ("cr7c/c", None, "AhAd", r"line 'cr7c/c', position 1: expected one of .*; found 'r7'"),
        ("cc", None, "AhAd", "line 'cc': expected a decision, found a deal of cards"),
        ("r250c/", BOARD, "AhAd", "line 'r250c/': expected a decision, found a deal of cards"),
        ("r250c//", BOARD, "AhAd", "line 'r250c//': expected a decision, found a showdown"),
        ("r50f", None, "AhAd", "line 'r50f': expected a decision, found a fold"),
        (None, None, "AhAd", "line: expected a betting string such as 'cr120c/', found None"),
        (["c"], None, "AhAd", "line: expected a betting string such as 'cr120c/', found "),
        ("cc/", None, "AhAd", r"board: expected 4 cards in this round, found 3 \(Qs7s2s\)"),
        ("cc/", "Qs 7s 3s 2d", "AhAd", "board: expected to begin with Qs7s2s, found Qs7s3s2d"),
        ("cc/", [43, 23, 3, 3], "AhAd", "board: expected cards that can be dealt here"),
        ("cc/", BOARD, "AhA", "hand: card 'A' at position 2"),
        ("cc/", BOARD, "Ah", "hand 'Ah': expected a hand of 2 cards, found 1"),
        ("cc/", BOARD, "9h8h", "hand 9h8h: oop cannot have it, since it is not in the range"),
        ("cc/", BOARD, "AdQs", "hand AdQs: oop cannot have it, since the board Qs7s2s3d blocks it"),
        ("cc/", BOARD, 7, "hand: expected text such as 'AsKh', or cards' numbers, found 7"),
        ("cc/", BOARD, (7, 7), "hand .*: hands: expected two different cards"),
    ],
)
def test_what_is_not_there_is_told(alike, line, board, hand, told):
    solution, policy = alike
    with pytest.raises(InputError, match=told):
        policy.frequencies(line, board, hand)
    if told.startswith(("line", "board")) and board is not None:
        with pytest.raises(InputError, match=told):
            solution.node(line, board)


def test_a_board_of_the_root_needs_no_naming():
    made = example("R1", "solve.max_sweeps=3")
    _, policy = solved(made)
    found = policy.decision("c")
    assert {*found.board} == {*parse_cards(made.spot.board)}
    np.testing.assert_array_equal(found.frequencies, policy.decision("c", made.spot.board).frequencies)
    np.testing.assert_allclose(found.frequencies.sum(axis=0), 1)
