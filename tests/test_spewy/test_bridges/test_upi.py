"""The server of UPI: what it answers equals what `Solution` says, and trees that clients describe are solved."""

import re
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from jobs import TURN
from upi_client import Upi

from spewy import Solution, solve
from spewy.bridges.upi import ACCEPTED, REFUSED, UpiServer
from spewy.cli.app import main
from spewy.game.tree import tree_json
from spewy.job.job import Job
from spewy.look.solution import Solution as View


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """The folder of a solved turn."""
    folder = tmp_path_factory.mktemp("upi") / "turn"
    solve(Job.of(TURN), folder).close()
    return folder


@pytest.fixture
def upi(turn):
    client = Upi()
    with client.server:
        client.do(f'load_tree "{turn}"')
        yield client


def names(client):
    return client.ask("show_hand_order")[0].split()


def test_the_order_of_hands_is_piosolvers(upi):
    order = names(upi)
    assert order[:8] == ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d", "2s2h", "3c2c", "3c2d"]
    assert (len(order), order[-1]) == (1326, "AsAh")


@pytest.mark.parametrize(
    ("name", "line", "board"),
    [
        ("r:0", "", None),
        ("r:0:c:b50", "x b50", None),
        ("r:0:c:b50:b200", "x b50 a", None),
        ("r:0:b50:c:3d", "b50 c", "Qs Jh 2h 8c 3d"),
        ("r:0:c:c:Ac:c", "x x x", "Qs Jh 2h 8c Ac"),
    ],
)
def test_strategies_ranges_and_evs_are_those_of_show(upi, turn, name, line, board):
    order = names(upi)
    with Solution.open(turn) as solution:
        place = solution.at(line, board, decision=True)
        for view in (solution.node(place), solution.waiting(place)):
            seat = ("OOP", "IP")[view.player]
            at = [order.index(hand) for hand in view.hands]
            (reach,) = upi.rows(f"show_range {seat} {name}")
            assert reach[at] == pytest.approx(view.reach, rel=1e-7)
            assert np.delete(reach, at).sum() == 0
            evs, matchups = upi.rows(f"calc_ev {seat} {name}")
            put_in = place.node.put_in[view.player]
            assert evs[at] + put_in == pytest.approx(view.ev, rel=1e-6, abs=1e-6, nan_ok=True)
            equities, same = upi.rows(f"calc_eq {seat} {name}")
            assert equities[at] == pytest.approx(view.equity, rel=1e-6, nan_ok=True)
            assert (matchups == same).all()
        strategy = upi.rows(f"show_strategy {name}")
        view = solution.node(place)
        at = [order.index(hand) for hand in view.hands]
        assert strategy[:, at] == pytest.approx(view.strategy, abs=1e-8)
        assert len(strategy) == int(upi.ask(f"show_node {name}")[4].split()[0])


def test_matchups_count_pairs_of_hands_without_a_common_card(upi):
    order = names(upi)
    ranges = {seat: upi.rows(f"show_range {seat} r:0:c")[0] for seat in ("OOP", "IP")}
    _, matchups = upi.rows("calc_ev OOP r:0:c")
    for hand in ("AsAh", "QhJh", "Tc9c"):
        free = [i for i, other in enumerate(order) if not {hand[:2], hand[2:]} & {other[:2], other[2:]}]
        expected = ranges["OOP"][order.index(hand)] * ranges["IP"][free].sum()
        assert matchups[order.index(hand)] == pytest.approx(expected)
    total = float(upi.ask("calc_matchups_line r:0:c")[0])
    assert total == pytest.approx(matchups.sum())


def test_the_mean_of_evs_is_the_ev_of_the_solve(upi, turn):
    evs, matchups = upi.rows("calc_ev IP r:0")
    results = dict(line.split(": ") for line in upi.ask("calc_results"))
    assert np.nansum(evs * matchups) / matchups.sum() == pytest.approx(float(results["EV IP"]), rel=1e-6)
    with Solution.open(turn) as solution:
        gap = solution.exploitability()
    assert float(results["Exploitable for"]) == pytest.approx(gap.exploitability, rel=1e-6)
    over = sum(float(results[f"{s}'s MES"]) - float(results[f"EV {s}"]) for s in ("OOP", "IP"))
    assert over / 2 == pytest.approx(gap.exploitability, abs=1e-4)


def test_frequencies_of_the_children_sum_to_that_of_their_node(upi):
    def frequency(name):
        return float(upi.ask(f"calc_global_freq {name}")[0])

    def children(name):
        answer = upi.ask(f"show_children {name}")
        return [line for before, line in pairwise(answer) if before.startswith("child ")]

    assert frequency("r:0") == 1
    for name in ("r:0", "r:0:c", "r:0:b50:c", "r:0:c:c:Ac"):
        assert sum(map(frequency, children(name))) == pytest.approx(frequency(name), rel=1e-6)
    assert float(upi.ask("calc_line_freq r:0:b50:c:3d")[0]) == pytest.approx(frequency("r:0:b50:c"), rel=1e-6)


def test_names_of_all_lines_lead_to_nodes(upi):
    lines = upi.ask("show_all_lines")
    assert lines[:3] == ["r", "r:0", "r:0:c"]
    assert len(set(lines)) == len(lines)
    on_the_turn = [
        line for line in lines if ":c:c" not in line and ":b50:c" not in line and ":b200:c" not in line
    ]
    for name in on_the_turn[1:]:
        assert upi.ask(f"show_node {name}")[0] == name


def test_every_node_of_the_last_round_has_a_name(upi):
    pending, seen = ["r:0:c:c:3d"], 0
    while pending:
        name = pending.pop()
        kind = upi.ask(f"show_node {name}")[1]
        seen += 1
        answer = upi.ask(f"show_children {name}")
        below = [line for before, line in pairwise(answer) if before.startswith("child ")]
        assert bool(below) == (kind != "END_NODE")
        pending += below
    assert seen > 8


def spot(client, *lines):
    client.do(
        "set_range OOP AA,QJs,T9s:0.5,76s",
        "set_range IP KK,QTs,AhKh,JJ",
        "set_board QsJh2h8c",
        "set_pot 0 0 100",
        "set_eff_stack 200",
        "set_threads 1",
        "set_accuracy 0.005 fraction",
        "clear_lines",
        *(f"add_line {line}" for line in lines),
    )


def lines_of(job):
    """The lines of a job's tree as ``add_line`` has them: what the player to act has put in."""
    for node in job.betting_tree.nodes():
        if node.kind != "showdown":
            continue
        at, totals, bets = job.betting_tree.root, [], node.line.replace("/", "")
        while bets:
            if at.kind == "chance":
                at = at.children[0]
                continue
            action, child = next(
                (a, c) for a, c in zip(at.actions, at.children, strict=True) if bets.startswith(a.acpc)
            )
            totals.append(action.total if action.total is not None else max(at.put_in))
            bets, at = bets[len(action.acpc) :], child
        yield " ".join(map(str, totals))


def test_a_tree_of_added_lines_is_the_tree_of_the_job_and_has_its_solution(turn):
    client = Upi()
    with client.server, Solution.open(turn) as solution:
        spot(client, *lines_of(solution.job))
        client.do("build_tree")
        built = client.server._job
        assert tree_json(built.betting_tree) == tree_json(solution.job.betting_tree)
        client.do("go", "wait_for_solver")
        client.do(f"dump_tree {turn.parent / 'dumped'}")
        with View.open(turn.parent / "dumped") as again:
            assert again.node("x b50").strategy == pytest.approx(solution.node("x b50").strategy)
        client.do(f"dump_tree {turn.parent / 'small'} no_rivers")
        assert "exists" in client.refused(f"dump_tree {turn.parent / 'small'}")


def test_a_locked_node_keeps_its_strategy_and_changes_the_answer(turn):
    client = Upi()
    with client.server:
        client.do(f"load_tree {turn}", "set_threads 1", "set_accuracy 0.005 fraction")
        before = client.rows("show_strategy r:0:b50")
        held = client.rows("show_range IP r:0:b50")[0] > 0
        folds = np.zeros_like(before)
        folds[0] = 1
        client.do(
            "set_strategy r:0:b50 " + " ".join(map(str, folds.ravel())),
            "lock_node r:0:b50",
            "go",
            "wait_for_solver",
        )
        assert client.rows("show_strategy r:0:b50")[0][held] == pytest.approx(1)
        bets = client.rows("show_strategy r:0")[1]
        assert bets[client.rows("show_range OOP r:0")[0] > 0].min() > 0.9  # who always folds is always bet
        client.server._strategies.clear()
        assert client.rows("show_strategy r:0:b50")[0][held] == pytest.approx(1)
        client.do("unlock_node r:0:b50", "go", "wait_for_solver")
        assert client.rows("show_strategy r:0:b50") == pytest.approx(before, abs=0.05)


def test_only_the_chosen_hands_are_locked(turn):
    client = Upi()
    with client.server:
        client.do(f"load_tree {turn}", "set_threads 1", "set_accuracy 0.02 fraction")
        order = names(client)
        folds = np.zeros_like(client.rows("show_strategy r:0:b50"))
        folds[0] = 1
        client.do("set_strategy r:0:b50 " + " ".join(map(str, folds.ravel())))
        client.do("combo_lock_node r:0:b50 " + " ".join("1" if hand == "KdKc" else "0" for hand in order))
        client.do("go", "wait_for_solver")
        client.server._strategies.clear()
        folded = client.rows("show_strategy r:0:b50")[0]
        assert folded[order.index("KdKc")] == pytest.approx(1)
        assert folded[order.index("KsKh")] < 0.9
        assert client.ask("show_settings")[-1] == "locked nodes: r:0:b50"


def test_categories_have_names(upi, turn):
    order = names(upi)
    made, draws = (line.split() for line in upi.ask("show_category_names"))
    for question in ("show_categories r:0:b50:c:3d", "show_categories Qs Jh 2h 8c 3d"):
        numbers = upi.rows(question).astype(int)
        assert made[numbers[0, order.index("QcJd")]] == "two_pair"
        assert numbers[0, order.index("AsQs")] == -1
        assert not numbers[1].any()
    numbers = upi.rows("show_categories r:0").astype(int)
    assert draws[numbers[1, order.index("AhKh")]] == "nut_flush_draw"
    assert made[numbers[0, order.index("AhKh")]] == "ace_high"
    assert upi.ask(f"show_metadata {turn}") == upi.ask("show_tree_info")


@pytest.mark.slow
def test_a_hundred_thousand_commands_take_no_more_memory_than_ten_thousand(upi):
    lines = [line for line in upi.ask("show_all_lines")[1:] if "c:c" not in line]
    deals = [f"r:0:c:c:{card}:c" for card in ("3d", "9s", "Tc", "Kd", "4h")]
    nodes = [*lines, *deals]
    cheap = ("show_node", "show_children", "calc_global_freq", "calc_matchups_line")
    questions = [f"{name} {node}" for node in nodes for name in cheap]
    questions += [
        f"{name} {seat} {node}"
        for node in deals
        for name in ("show_range", "calc_ev")
        for seat in ("OOP", "IP")
    ]
    process, used = pytest.importorskip("psutil").Process(), []
    for number in range(100_000):
        upi.ask(questions[number % len(questions)])
        if number + 1 in (10_000, 100_000):
            used.append(process.memory_info().rss)
    assert used[1] - used[0] < 16 * 2**20


def test_a_solve_is_stopped_and_goes_on():
    client = Upi()
    with client.server:
        spot(client, "0 0 0 0", "50 200")
        client.do("build_tree", "set_accuracy 0")
        out = client.ask("go")
        assert out[0] == "go ok!"
        assert "running" in client.refused("show_node r:0")
        client.ask("stop")
        sweeps = client.server.tree.solution.sweeps
        client.ask("go 5 steps")
        client.ask("wait_for_solver")
        assert client.server.tree.solution.sweeps == sweeps + 5


def test_an_unsolved_tree_has_ranges_and_equities():
    client = Upi()
    with client.server:
        spot(client, "0 0 0 0")
        client.do("build_tree")
        equities = [float(client.ask(f"calc_eq_node {seat} r:0")[2]) for seat in ("OOP", "IP")]
        assert sum(equities) == pytest.approx(1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("shown_node r:0", "nearest: show_node"),
        ("show_node", "expected words as in 'show_node r:0'"),
        ("show_node x:0", "expected a name such as r:0:c:b120"),
        ("show_node r:0:b51", "expected one of c, b50 after r:0, found 'b51'"),
        ("show_node r:0:c:b50:b300", "expected one of f, c, b200 after r:0:c:b50, found 'b300'"),
        ("show_node r:0:b50:f:c", "expected nothing, since the hand ends there after r:0:b50:f, found 'c'"),
        ("show_node r:0:c:c:c", "expected a card that can be dealt after r:0:c:c, found 'c'"),
        ("show_node r:0:c:c:Qs", "expected a card that can be dealt"),
        ("show_node r:0:c:c:Zz", "card"),
        ("show_strategy r:0:c:c", "expected a decision"),
        ("show_range MP r:0", "expected OOP or IP"),
        ("load_tree /nowhere", "does not exist"),
        ('load_tree "/nowhere', "No closing quotation"),
        ("set_pot 1 0 100", "nobody has bet yet"),
        ("set_pot 0 0 x", "whole chips"),
        ("set_board QsQs2h", "Qs"),
        ("set_accuracy much", "expected a number"),
        ("set_threads -1", "number of threads"),
        ("add_line 0 50 20", "found 20 at place 3"),
        ("add_line 0 50 60", "place 3"),
        ("remove_line 0 70", "no line"),
        ("remove_line 5", "no line"),
        ("go 3", "go 10 seconds"),
        ("solve_partial r:0", "not here"),
        ("combo_lock_node r:0 1 1", "1 for each hand to lock, else 0; found 3 words"),
        ("show_categories QsJh", "expected 0, 3, 4 or 5 cards"),
        ("show_categories QsJz2h", "expected a board or a node"),
        ("set_strategy r:0 1 0", "expected 2 times 1,326"),
        ("unlock_node r:0", "lock_node has locked"),
        ("set_range OOP", "a player and a range"),
    ],
)
def test_what_is_wrong_is_answered_by_one_line(upi, line, words):
    upi.do("set_board QsJh2h8c", "set_eff_stack 200")
    assert words in upi.refused(line)


def test_without_a_tree_and_without_a_spot_the_next_step_is_told():
    client = Upi()
    with client.server:
        assert "load_tree" in client.refused("show_node r:0")
        assert "set_range OOP" in client.refused("build_tree")
        client.do("set_board QsJh2h8c", "set_eff_stack 200", "set_pot 0 0 100", "add_line 0 0")
        client.do("set_range OOP " + " ".join(["1"] * 1325), "set_range IP AA")
        assert "1326" in client.refused("build_tree")
        assert client.ask("is_tree_present") == ["false"]


def test_the_documented_commands_are_those_of_the_server():
    text = (Path(__file__).parents[3] / "docs" / "how-to" / "upi.md").read_text()
    cells = [row.split("|")[2:5] for row in text.splitlines() if re.match(r"\| \d \|", row)]
    answered, accepted, refused = (
        {name for cell in column for name in re.findall(r"`(\w+)`", cell)}
        for column in zip(*cells, strict=True)
    )
    assert answered == set(UpiServer(StringIO())._commands)
    assert accepted == set(ACCEPTED)
    assert refused == set(REFUSED)


def test_a_script_is_read_from_a_file(tmp_path, turn):
    script = tmp_path / "script.txt"
    script.write_text(f"# a comment\nload_tree {turn}\nshow_effective_stack\n")
    client = Upi()
    with client.server:
        assert client.ask(f"load_script {script}") == ["load_tree ok!", "200", "load_script ok!"]
        script.write_text(f"load_script {script}\n")
        assert "load each other" in client.refused(f"load_script {script}")


def test_the_command_answers_on_stdout_until_its_input_ends(turn):
    runner = CliRunner()
    run = runner.invoke(main, ["upi"], input=f"is_ready\nload_tree {turn}\nshow_node r\nexit\nis_ready\n")
    assert run.exit_code == 0
    assert run.stdout.splitlines()[1:] == [
        "is_ready ok!",
        "load_tree ok!",
        "r",
        "SPLIT_NODE",
        "Qs Jh 2h 8c",
        "0 0 100",
        "1 children",
        "flags: ",
    ]


def test_amounts_of_a_job_in_big_blinds_are_chips(tmp_path):
    spot = TURN["spot"] | {"pot": 1, "stack": 2}
    solve(Job.of(TURN | {"unit": "bb", "spot": spot}), tmp_path / "bb").close()
    client = Upi()
    with client.server:
        client.do(f"load_tree {tmp_path / 'bb'}", "lock_node r:0:c:b50")
        assert client.ask("show_node r:0:c:b50")[3] == "0 50 100"
        results = dict(line.split(": ") for line in client.ask("calc_results"))
        assert float(results["EV OOP"]) + float(results["EV IP"]) == pytest.approx(100)
