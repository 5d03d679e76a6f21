"""UPAC's bot: its cards against those of `buckets`, its tables, what it answers, and the rivers that it solves."""

import io
import json
import subprocess
import sys
import zipfile
from contextlib import closing
from random import Random

import numpy as np
import pytest
from cli_runs import good, refused
from jobs import EXAMPLES
from test_upac_text import HOLE, hear, odd_lines
from upac_tables import betting_tree, fake_tables, packed_tables

from buckets.cards import Deck, hand_index, hands, parse_cards, preflop_classes, strengths
from buckets.cards import canonical as canonical_history
from spewy.competitions.upac.package import MOST_BYTES, open_tables, write_package
from spewy.competitions.upac.push_fold import push_fold
from spewy.competitions.upac.runtime import tables as cards
from spewy.competitions.upac.runtime.player import Player, River
from spewy.competitions.upac.runtime.protocol import Spot, serve
from spewy.competitions.upac.runtime.tables import (
    FIRST_CHILD,
    FOLD,
    N_CHILDREN,
    PLAYER,
    ROUND,
    SPENT_0,
    SPENT_1,
    TOTAL,
    Tables,
    TablesError,
)
from spewy.competitions.upac.tables import tree_tables
from spewy.errors import InputError
from spewy.look.folder import open_policy

DECK = Deck()


@pytest.fixture(scope="module")
def data():
    return packed_tables()


@pytest.fixture(scope="module")
def tables(data):
    with closing(Tables(io.BytesIO(data), "test")) as found:
        yield found


def boards(n_cards, n, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(52, n_cards, replace=False) for _ in range(n)])


def test_hands_are_numbered_as_everywhere():
    assert np.array_equal(cards.HANDS, hands(DECK, 2))
    assert [cards.hand_number(hand) for hand in cards.HANDS] == list(range(1326))
    assert [cards.start_class(hand) for hand in cards.HANDS.tolist()] == preflop_classes()[0].tolist()


@pytest.mark.parametrize("n_cards", [3, 4, 5])
def test_boards_that_are_alike_have_one_number(n_cards):
    some = boards(n_cards, 400)
    numbers, perms = cards.canonical(some)
    known = {}
    for board, number, perm in zip(some, numbers.tolist(), perms, strict=True):
        stands = canonical_history((tuple(sorted(board.tolist())),), DECK)[0]
        assert known.setdefault(stands, number) == number
        moved = cards.PERMS[perm][board][None]
        assert cards.canonical(moved)[0][0] == number
    assert len(set(known.values())) == len(known)


def test_grades_and_curves_by_counting_hands():
    hole, turn = (51, 46), (0, 9, 22, 35)
    found = []
    for river in sorted(set(range(52)) - {*hole, *turn}):
        strength = strengths([[*turn, river]], cards.HANDS)[0]
        own, live = strength[hand_index(DECK, hole)], strength[strength >= 0]
        below, equal = int((live < own).sum()), int((live == own).sum())
        found.append((2 * below + equal) * 255 // (2 * len(live)))
    curve = np.sort(found).reshape(23, 2).mean(axis=1)
    assert cards.curve(hole, turn, 23) == pytest.approx((curve + 0.5) / 255)


def test_equity_on_a_river_by_counting_hands():
    hole, board = (51, 46), (0, 9, 22, 35, 48)
    apart = cards.HANDS[~np.isin(cards.HANDS, hole).any(axis=1)]
    theirs, own = strengths([board], apart)[0], strengths([board], [hole])[0, 0]
    theirs = theirs[theirs >= 0]
    assert cards.equity(hole, board) == pytest.approx(((theirs < own) + (theirs == own) / 2).mean())


def test_a_tree_is_kept_node_by_node():
    nodes, decisions = tree_tables(betting_tree().root)
    assert len(decisions) == sum(node.kind == "decision" for node in betting_tree().nodes())
    root = betting_tree().root
    children = range(nodes[0, FIRST_CHILD], nodes[0, FIRST_CHILD] + nodes[0, N_CHILDREN])
    assert nodes[0, PLAYER] == root.player == 1
    assert [int(nodes[child, TOTAL]) for child in children] == [-1, 0, 5, 30]
    free = [each.slot + each.n_actions - 1 for each in decisions if each.round == 2]
    assert free == sorted(free)


def test_frequencies_add_up(tables):
    for node in range(0, len(tables.tree(0).nodes), 41):
        if tables.tree(0).nodes[node, PLAYER] >= 0:
            board = (0, 9, 22, 35, 48)[: (0, 3, 4, 5)[tables.tree(0).nodes[node, 1]]]
            assert tables.frequencies(0, node, (51, 46), board).sum() == pytest.approx(1)


def answers(tables, *lines, n=60):
    """All answers that a bot gives to the last of some lines, hand after hand."""
    player = Player(tables, 1)
    spot = hear(*lines).spot
    found = []
    for number in range(n):
        fresh = type(spot)(number + 1, *(getattr(spot, name) for name in list(spot.__dataclass_fields__)[1:]))
        found.append(player.answer(fresh))
    return found


@pytest.mark.parametrize("stack", range(2, 11))
def test_five_big_blinds_and_less_are_played_as_the_exact_solution(tables, stack):
    """For each starting hand, from the tables' own frequencies to the answers of a hundred hands."""
    found = push_fold(stack)
    assert np.allclose(tables.push[stack], found.push, atol=1e-12)
    assert np.allclose(tables.call[stack], found.call, atol=1e-12)
    more = f"R{stack - 2}" if stack > 2 else "C"
    for name in ("AsAh", "7d2c", "Tc9c", "Kd4s", "3c2d"):
        board_bucket = cards.start_class(parse_cards(name))
        hole = f"PREFLOP {name[:2]} {name[2:]}"
        pushed = answers(tables, "START SB", hole, f"STACK 1 {stack} 2 {100 - stack}", n=100)
        assert {"F", more} >= set(pushed)
        assert pushed.count(more) == pytest.approx(100 * found.push[board_bucket], abs=20)
        called = answers(tables, "START BB", hole, f"STACK 2 {100 - stack} {stack} {stack}", n=100)
        assert {"F", "C"} >= set(called)
        if stack > 2:
            assert called.count("C") == pytest.approx(100 * found.call[board_bucket], abs=20)


def test_a_stack_between_two_rungs_keeps_shares_of_the_pot(tables):
    """The tree of 30 chips raises to 5, or goes all in."""
    found = set(answers(tables, "START SB", HOLE, "STACK 1 44 2 56", n=200))
    assert found == {"F", "C", "R3", "R42"}


def test_what_no_table_knows_is_played_by_odds():
    with closing(Tables(io.BytesIO(packed_tables(0)), "test")) as tables:
        strong = ["START SB", "PREFLOP As Ah", "STACK 1 50 2 50"]
        assert set(answers(tables, *strong)) == {"R48"}
        weak = ["START BB", "PREFLOP 7s 2h", "STACK 2 50 30 50"]
        assert set(answers(tables, *weak)) == {"F"}


@pytest.mark.parametrize("seed", range(25))
def test_every_question_has_one_answer(data, seed):
    lines = "\n".join(odd_lines(seed)).encode("utf-8", errors="replace") + b"\n\xff\xfe\x00\n"
    asked = sum(line.split()[:1] == [b"STACK"] for line in lines.split(b"\n"))
    sink, notes = io.BytesIO(), []
    player = Player(Tables(io.BytesIO(data), "test"), seed)
    serve(io.BytesIO(lines), sink, player, notes.append)
    told = sink.getvalue().split()
    assert len(told) == asked
    assert all(answer in (b"F", b"C") or answer[:1] == b"R" for answer in told)
    assert not [note for note in notes if "no answer to" in note]


def test_a_bot_that_fails_calls_and_tells(data):
    class Broken(Player):
        def answer(self, spot):
            raise RuntimeError("oh")

    sink, notes = io.BytesIO(), []
    lines = io.BytesIO(b"START SB\nPREFLOP As Kd\nSTACK 1 50 2 50\n")
    serve(lines, sink, Broken(Tables(io.BytesIO(data), "test")), notes.append)
    assert sink.getvalue() == b"C\n"
    assert notes[-2:] == [
        "WARNING no answer to 'STACK 1 50 2 50' because of RuntimeError: oh; the bot calls",
        "> C",
    ]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    out = tmp_path_factory.mktemp("upac") / "bot.zip"
    write_package(fake_tables(), out)
    return out


def test_a_package_runs_with_numpy_alone(package, tmp_path):
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path)
    told = json.loads((tmp_path / "bot" / "bot.json").read_text())
    assert set(told) == {"name", "build", "run"}
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < MOST_BYTES
    code = (
        "import runpy, sys\n"
        "try:\n    runpy.run_module('spewy.competitions.upac.runtime', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end:\n    assert end.code == 0, end.code\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not roots & {'scipy', 'numba', 'lmdb', 'solvers', 'lockers', 'click'}, roots\n"
        "assert not {'spewy.errors', 'buckets.kernels', 'buckets.cards.strength'} & set(sys.modules)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "bot",
        env={"PYTHONPATH": str(tmp_path / "bot")},
        input="START SB\nPREFLOP As Ah\nSTACK 1 8 2 92\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, "R6\n"), found.stderr


def test_the_same_tables_give_the_same_package(tmp_path):
    for name in ("a.zip", "b.zip"):
        write_package(fake_tables(), tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_package_that_is_too_large_is_refused(tmp_path):
    noise = np.random.default_rng(1).integers(256, size=MOST_BYTES).astype(np.uint8)
    with pytest.raises(InputError, match="expected at most 5,000,000 bytes, found 5,"):
        write_package({"noise": noise}, tmp_path / "a.zip")


def test_files_that_are_no_packages(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK nonsense")
    for name in ("a.zip", "none.zip"):
        with pytest.raises(InputError, match="expected a zip file with tables of UPAC's bot, found: "):
            open_tables(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("bot/tables.npz", b"nonsense")
    with pytest.raises(TablesError, match="expected a file that spewy wrote"):
        open_tables(tmp_path / "b.zip")
    assert "expected a zip file with tables of UPAC's bot" in refused("play", "upac", tmp_path / "a.zip")
    assert "expected a file that spewy wrote" in refused("play", "upac", tmp_path / "b.zip")


def test_a_package_without_a_ladder_from_the_command_line(tmp_path):
    out = tmp_path / "bot.zip"
    assert "none, in big blinds" in good("package", "upac", out)
    with closing(open_tables(out)) as tables:
        assert tables.stacks == ()
    assert "expected a name that ends in .zip" in refused("package", "upac", tmp_path / "bot.tar")
    (tmp_path / "empty").mkdir()
    assert "it contains no folder of a solve" in refused(
        "package", "upac", out, "--ladder", tmp_path / "empty"
    )
    assert "No such file" in refused("package", "upac", out, "--ladder", tmp_path / "none")


def test_play_on_stdin_and_stdout(package, tmp_path):
    log = tmp_path / "log.txt"
    lines = "START SB\nPREFLOP As Ah\nSTACK 1 8 2 92\nNONSENSE\n"
    command = [sys.executable, "-m", "spewy", "play", "upac", package, "--log", log]
    found = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout) == (0, "R6\n")
    assert found.stderr.startswith("WARNING line 'NONSENSE'")
    assert log.read_text().splitlines()[:4] == ["< START SB", "< PREFLOP As Ah", "< STACK 1 8 2 92", "> R6"]


def test_a_reader_that_goes_away_ends_it_quietly(package):
    lines = "START SB\nPREFLOP As Ah\n" + "STACK 1 8 2 92\n" * 3000
    command = f"{sys.executable} -m spewy play upac {package} | head -1"
    pipe = ["bash", "-c", f"set -o pipefail; {command}"]
    found = subprocess.run(pipe, input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout == "R6\n"
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


@pytest.mark.slow
def test_a_ladder_from_solves_to_answers(tmp_path):
    """Two rungs, hardly solved; what the bot does is what the lockers say, but for fifteenths and hands on turns."""
    ladder, out = tmp_path / "ladder", tmp_path / "bot.zip"
    for name in ("06bb", "10bb"):
        job = EXAMPLES / "upac-ladder" / f"{name}.toml"
        fast = ("--set", "solve.max_sweeps=200", "--set", "solve.check_flops=1")
        good("solve", job, "--out", ladder / name, *fast)
    assert "6, 10, in big blinds" in good("package", "upac", out, "--ladder", ladder)
    rng = Random(1)
    with closing(open_tables(out)) as tables, open_policy(ladder / "10bb") as policy:
        places = list(nodes_of(policy.problem.tree.root, tables.tree(1)))
        for node, place in rng.sample(places, 40):
            dealt = rng.sample(range(52), 7)
            hole, board = tuple(sorted(dealt[:2])), tuple(dealt[2 : 2 + (0, 3, 4, 5)[node.round]])
            if len(board) != 4:
                expected = policy.frequencies(node.line, board, hole)
                assert tables.frequencies(1, place, hole, board) == pytest.approx(expected, abs=0.1)


def nodes_of(node, tree, place=0):
    """All decisions of a betting tree, with their numbers in the bot's."""
    while node.kind == "chance":
        node = node.children[0]
    if node.kind == "decision":
        yield node, place
        for child, below in zip(node.children, tree.children(place), strict=True):
            yield from nodes_of(child, tree, below)


BOARD = (3, 14, 25, 36, 51)


@pytest.fixture(scope="module")
def tree(tables):
    return tables.tree(0)


@pytest.fixture(scope="module")
def root(tree):
    """The first river that both have reached with few chips in."""
    nodes = tree.nodes
    begins = {
        c for n in range(len(nodes)) if nodes[n, ROUND] < 3 for c in tree.children(n) if nodes[c, ROUND] == 3
    }
    return min(node for node in begins if nodes[node, PLAYER] >= 0)


def some_hands(n, seed, ties=False):
    """Weights of n hands that the board leaves."""
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(~np.isin(cards.HANDS, BOARD).any(axis=1))
    if ties:  # a few cards only, so that hands share them and tie
        there = there[np.isin(cards.HANDS[there] >> 2, (4, 5, 6)).all(axis=1)]
    weights = np.zeros(len(cards.HANDS))
    weights[rng.choice(there, min(n, len(there)), replace=False)] = rng.random(min(n, len(there)))
    return weights


def river(tree, root, n=40, seed=1, ties=False):
    weights = some_hands(n, seed, ties), some_hands(n, seed + 1, ties)
    return River(tree, root, weights, cards.strengths(BOARD))


def walked(game, node, reach, play, p, best):
    """``[hand]``: what a node is worth to a player, pair by pair; ``best``: of actions, in place of what is played."""
    tree, mine, theirs = game.tree, game.held[p], game.held[1 - p]
    player = int(tree.nodes[node, PLAYER])
    found = []
    for number, child in enumerate(tree.children(node)):
        below = reach * play[node][number] if player != p else reach
        if tree.nodes[child, PLAYER] >= 0:
            found.append(walked(game, child, below, play, p, best))
            continue
        chips = int(tree.nodes[child, [SPENT_0, SPENT_1]].min())
        value = np.zeros(len(mine))
        for i, hand in enumerate(cards.HANDS[mine]):
            own = cards.strengths(BOARD)[mine[i]]
            for j, other in enumerate(cards.HANDS[theirs]):
                if not {*hand.tolist()} & {*other.tolist()}:
                    if tree.nodes[child, TOTAL] == FOLD:
                        won = -1 if player == p else 1
                    else:
                        won = np.sign(own - cards.strengths(BOARD)[theirs[j]])
                    value[i] += below[j] * chips * won
        found.append(value)
    if player != p:
        return np.sum(found, axis=0)
    return np.max(found, axis=0) if best else (np.array(found) * play[node]).sum(axis=0)


@pytest.mark.parametrize("ties", [False, True])
def test_ends_are_worth_what_pairs_of_hands_say(tree, root, ties):
    game = river(tree, root, 12, ties=ties)
    play = game.solve(10.0, 3)
    for p in (0, 1):
        reach = game.reach(play, 1 - p)
        values = game._values(play, reach, p)
        expected = walked(game, root, game.weights[1 - p], play, p, best=False)
        if tree.nodes[root, PLAYER] == p:
            node, _, found = values[-1]
            assert node == root
        else:
            ends = game.ends(reach, p)
            of_decisions = {node: value for node, _, value in values}
            found = sum(
                ends[child] if child in ends else of_decisions[child] for child in tree.children(root)
            )
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_a_river_that_is_solved_leaves_little_to_win(tree, root):
    game = river(tree, root, 25)
    met = game.weights[0] @ game._met[0].all(game.weights[1][:, None])[:, 0]
    pot = 2 * int(tree.nodes[root, [SPENT_0, SPENT_1]].min())
    left = []
    for iterations in (1, 300):
        play = game.solve(60.0, iterations)
        best = []
        for p in (0, 1):
            found = walked(game, root, game.weights[1 - p], play, p, best=True)
            assert game.best(play, p) == pytest.approx(found, abs=1e-9)
            best.append(game.weights[p] @ found)
        left.append(sum(best) / 2 / met / pot)
    assert 0 <= left[1] < 0.003 < 0.03 < left[0]


def test_seconds_are_kept(tree, root):
    game = river(tree, root)
    assert game.solve(0.0).keys() == set(game.decisions)
    once, more = game.solve(0.0), game.solve(0.0, 1)
    assert all(np.array_equal(once[node], more[node]) for node in once)


@pytest.mark.parametrize("n_cards", [0, 3, 4, 5])
def test_rows_of_all_hands_are_those_of_each(tables, n_cards):
    board = BOARD[:n_cards]
    board_bucket, rows = tables.rows(board)
    for hand in range(0, len(cards.HANDS), 53):
        hole = tuple(cards.HANDS[hand].tolist())
        if not {*hole} & {*board}:
            assert tables.row(hole, board) == (board_bucket, rows[hand])
    if not board:
        assert [cards.start_class(hole) for hole in cards.HANDS.tolist()] == rows.tolist()


def checked(number=1, hole=(50, 46), *, river=()):
    """A limped hand of 30 chips in which nobody has bet."""
    quiet = ("c", "c")
    return Spot(number, hole, BOARD, False, (2, 2), (30, 70), (quiet, quiet, quiet, river))


@pytest.fixture
def solved(monkeypatch):
    """Rivers that were solved."""
    found, solve = [], River.solve
    monkeypatch.setattr(River, "solve", lambda self, *what: found.append(self) or solve(self, *what))
    return found


def test_a_river_is_solved_once_a_hand(tables, solved):
    player = Player(tables, 1)
    first = player.answer(checked())
    after = Spot(1, (50, 46), BOARD, False, (2, 8), (30, 70), (*checked().rounds[:3], ("c", "r8")))
    if first == "C":
        assert player.answer(after)[0] in "FCR"
    assert len(solved) == 1
    player.answer(checked(2))
    assert len(solved) == 2
    assert Player(tables, 1, seconds=0).answer(checked())
    assert len(solved) == 2


def test_ranges_are_played_to_the_river_and_the_own_hand_is_always_in(tables, solved):
    player = Player(tables, 1)
    for number, hole in enumerate([(50, 46), (0, 5), (12, 13)], 1):
        player.answer(checked(number, hole))
        assert cards.HANDS[solved[-1].held[0]].tolist().count([*sorted(hole)]) == 1
        assert not np.isin(cards.HANDS[solved[-1].held[1]], BOARD).any()
        assert (solved[-1].weights[1] <= 1).all()
    assert np.ptp(solved[-1].weights[1]) > 0


def test_a_river_that_is_solved_worse_than_the_tables_is_played_by_them(tables, tree, monkeypatch):
    def bets_everything(river, seconds):
        out = {
            node: np.zeros((len(tree.children(node)), len(river.held[river._player(node)])))
            for node in river.decisions
        }
        for play in out.values():
            play[-1] = 1
        return out

    player = Player(tables, 1)
    player.answer(checked())
    node = min(player._river)
    by_table = tables.frequencies(0, node, (50, 46), BOARD)
    assert not np.allclose(player._river[node], by_table)
    monkeypatch.setattr(River, "solve", bets_everything)
    player.answer(checked(2))
    assert np.array_equal(player._river[node], by_table)


def test_the_same_hand_is_played_the_same_way(tables):
    found = [Player(tables, 7, seconds=60.0).answer(checked(number)) for number in (1, 2, 3, 1, 2, 3)]
    assert found[:3] == found[3:]


def test_a_hand_that_cannot_lose_never_folds(tables):
    """The board is BOARD; the best hand bets or raises, or waits, whatever the other does."""
    best = tuple(
        cards.HANDS[np.argmax(np.where(some_hands(2000, 1) > 0, cards.strengths(BOARD), 0))].tolist()
    )
    for number in range(1, 9):
        facing = Spot(number, best, BOARD, False, (2, 30), (30, 70), (*checked().rounds[:3], ("c", "r30")))
        assert Player(tables, number).answer(facing) in ("C", "R28")
