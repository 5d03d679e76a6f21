"""The address of a chunk, and what takes no layout: one board's rows, the board that is solved, one round's betting."""

import numpy as np
import pytest
from cli_runs import TURN
from jobs import ALIKE, SUITED, example, parsed_job, toy

from buckets.cards import cards_name, parse_cards, permute_history
from spewy.chunks.boards import board_hands, hand_map
from spewy.chunks.layout import ChunkAddress, Layout
from spewy.chunks.locate import board_cards, place_at, possible_deals, solved_board
from spewy.chunks.rounds import decision_slots
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.nodes import entry_line
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import game_config, player_sizes
from spewy.job.job import Job

JOBS = {
    "all suits differ": lambda: parsed_job(SUITED),
    "three suits alike": lambda: parsed_job(ALIKE),
    "no symmetry": lambda: parsed_job(ALIKE + "[solve]\nsymmetry = false\n"),
    "buckets": lambda: parsed_job(ALIKE + "[rows]\nflop = 7\n"),
    "own buckets": lambda: parsed_job(TURN + '[rows]\nturn = 3\nweights = "ranges"\n'),
    "Leduc": lambda: toy("leduc", symmetry=True),
    "Kuhn": lambda: toy("kuhn"),
}


@pytest.fixture(scope="module", params=JOBS)
def layout(request):
    return Layout.of(JOBS[request.param]().problem)


def test_keys_are_what_folders_hold():
    history = tuple(tuple(sorted(parse_cards(cards))) for cards in ("Qs Jh 2h", "8c", "3d"))
    assert ChunkAddress(3, history, "cr120c/").key((41, 37)) == b"3.2hJhQs/8c/3d|cr120c/|41x37"
    assert ChunkAddress(0, (), "").key((169, 168)) == b"0.||169x168"


def test_a_layout_knows_the_address_of_its_chunks():
    layout = Layout.of(example("T1").problem)
    r = layout.betting[1].find("cr120c/")
    b = layout.boards[1].numbers[(*layout.problem.history, parse_cards("3d"))]
    address = layout.address(1, b, r)
    assert address == ChunkAddress(3, (*layout.problem.history, parse_cards("3d")), "cr120c/")
    assert layout.key(1, b, r) == address.key(layout.n_rows(1, b))


def test_a_place_where_nobody_acts_is_refused_only_if_a_decision_is_asked_for():
    problem = parsed_job(TURN).problem
    for line in ("cc", "cr50f"):
        assert place_at(problem, line).line == line
        with pytest.raises(InputError, match="expected a decision"):
            place_at(problem, line, decision=True)


def test_rows_of_one_board_are_those_of_the_enumeration(layout):
    for table in layout.boards:
        for board in table.boards[::7]:
            for mine, theirs in zip(
                board_hands(layout.problem, table.round, board.history), board.hands, strict=True
            ):
                assert mine.n_rows == theirs.n_rows
                for name in ("numbers", "strength", "row", "weight"):
                    found, expected = getattr(mine, name), getattr(theirs, name)
                    np.testing.assert_array_equal(found, expected)
                    assert found.dtype == expected.dtype


def test_maps_of_all_deals_are_those_of_single_deals(layout):
    for t, table in enumerate(layout.boards[:-1]):
        deal, below = layout.live.rounds[t].deal, layout.boards[t + 1]
        for b in range(0, len(table.boards), 5):
            board = table.boards[b]
            for e, entry in enumerate(board.entries, start=deal.first[b]):
                child = below.boards[entry.child]
                for p in (0, 1):
                    expected = [
                        hand_map(layout.problem, board.hands[p], child.hands[p], perm)
                        for _, perm in entry.members
                    ]
                    images = deal.child_row[p][deal.first_image[e] : deal.first_image[e + 1]]
                    n = len(board.hands[p].numbers)
                    np.testing.assert_array_equal(images[:, :n], expected)
                    assert (images[:, n:] == -1).all()
                    back = deal.parent_row[p][e]
                    there = expected[0][expected[0] >= 0]
                    np.testing.assert_array_equal(back[there], np.flatnonzero(expected[0] >= 0))


def test_the_solved_board_is_the_one_that_the_enumeration_picked(layout):
    """For every deal that follows a solved board."""
    problem = layout.problem
    for t, table in enumerate(layout.boards[:-1]):
        for board in table.boards[::5]:
            for e in board.entries:
                child = layout.board(t + 1, e.child).history
                for cards, perm in e.members:
                    dealt = (*board.cards, *cards)
                    history, turn = solved_board(problem, layout.boards[t + 1].round, dealt)
                    assert history == child
                    assert permute_history((*board.history, cards), turn) == child
                    assert turn.tolist() in problem.symmetries.tolist()
                    turns = [
                        one
                        for one in problem.symmetries
                        if permute_history((*board.history, cards), one) == child
                    ]
                    assert turn.tolist() == turns[0].tolist()
                    assert perm.tolist() in [one.tolist() for one in turns]


def test_cards_within_a_round_may_come_in_any_order():
    problem = parsed_job(ALIKE).problem
    expected, _ = solved_board(problem, 3, board_cards(problem, 3, "Qs 7s 2s 3d 4h"))
    found, perm = solved_board(problem, 3, board_cards(problem, 3, "2s Qs 7s 3h 4c"))
    assert found == expected
    assert cards_name(found[-1]) == "4d"
    assert [int(perm[suit]) for suit in range(4)] != [0, 1, 2, 3]


@pytest.mark.parametrize("cards", [(43, 43), (0, 1), (60,)])
def test_cards_that_cannot_be_dealt(cards):
    problem = toy("leduc").problem
    with pytest.raises(InputError, match="board: expected"):
        solved_board(problem, 1, board_cards(problem, 1, cards))


TREES = {
    "T1": lambda: example("T1").tree_config,
    "F1": lambda: example("F1").tree_config,
    "limit": lambda: game_config(load_game("leduc")),
    "blinds": lambda: game_config(
        load_game("doyle"),
        {0: (player_sizes("a", "2.5x, a"), player_sizes("100%", "3x, a"))},
        force_allin=0.5,
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_one_round_is_that_of_the_whole_tree(name):
    tree = BettingTree(TREES[name]())
    nodes = list(tree.nodes())
    for line in {entry_line(node.line) for node in nodes if node.kind == "decision"}:
        whole, alone = tree.find(line), BettingTree(tree.config).entered(line)
        found, slots = decision_slots(BettingTree(tree.config).alone(line))
        assert alone.line == ""
        expected = [node for node in nodes if node.kind == "decision" and entry_line(node.line) == line]
        assert {*found} == {node.line for node in expected}
        for node in expected:
            mine = found[node.line][0]
            for field in ("kind", "player", "round", "put_in", "actions", "line"):
                assert getattr(mine, field) == getattr(node, field)
            assert [child.line for child in mine.children] == [child.line for child in node.children]
        assert slots == decision_slots(whole)[1]


@pytest.mark.parametrize("name", ["T1", "Leduc", "Kuhn"])
def test_slots_are_those_of_the_forest(name):
    layout = Layout.of((example("T1") if name == "T1" else JOBS[name]()).problem)
    for bets in layout.betting:
        for chunk in bets.chunks:
            if chunk.nodes[0].kind != "decision":
                continue
            found, slots = decision_slots(layout.problem.tree.alone(chunk.line))
            assert slots == chunk.forest.n_slots
            for n, node in enumerate(chunk.nodes):
                if node.kind == "decision":
                    assert found[node.line][1] == chunk.forest.arrays.slot[n]


def test_a_round_of_a_tree_that_is_too_large_to_be_built():
    sizes = player_sizes("20%, 40%, 60%, 80%, 100%, a", "2x, 3x, 4x")
    tree = BettingTree(game_config(load_game("holdem.nolimit.2p.reverse_blinds"), {0: (sizes, sizes)}))
    assert not tree.size.complete
    assert tree.alone("cc/cc/").round == 2
    with pytest.raises(
        InputError, match=r"line 'cc/r7c', position 3: expected one of check \(c\), bet 100 \(r200\)"
    ):
        tree.alone("cc/r7c")
    with pytest.raises(InputError, match="expected at most 1,000,000 decisions and ends"):
        tree.root  # noqa: B018


def test_row_maps_are_small_and_few(layout, monkeypatch):
    monkeypatch.setattr("spewy.chunks.layout.MOST_IMAGES", 2)
    for b, board in enumerate(layout.boards[0].boards if layout.n_rounds > 1 else ()):
        for e, entry in enumerate(board.entries):
            for member in range(len(entry.members)):
                image = layout.image(0, b, e, member)
                assert layout.image(0, b, e, member) is image
                assert image[0].dtype == image[1].dtype == np.int16
                assert len(layout._images) <= 2


def test_flops_that_can_follow_are_listed_with_their_highest_cards_first():
    problem = Job.of({"name": "p", "game": {"file": "holdem.limit.2p.reverse_blinds"}}).problem
    deals = possible_deals(problem, 0, ())
    assert len(deals) == 1755
    assert sum(count for _, count in deals) == 22100
    assert [cards for cards, _ in deals] == sorted((cards for cards, _ in deals), reverse=True)
    assert all(51 >= first > second > third >= 0 for (first, second, third), _ in deals)


def test_chips_in_units_of_a_whole_game_and_of_a_spot():
    assert toy("leduc").problem.game.big_blind == 1
    assert toy("leduc").problem.in_units(2.5) == (None, 2500)
    assert example("T1").problem.in_units(3) == (1.5, None)
