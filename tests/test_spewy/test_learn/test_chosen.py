"""``solve.choose``: toy rivers whose equilibria are known by hand, and other programs that search among equilibria."""

import json
from functools import cache

import numpy as np
import pytest
from cli_runs import KUHN, LEDUC, POLARISED, TURN, good, good_json, refused, write
from jobs import EXAMPLES
from scipy import sparse
from scipy.optimize import linprog

from benchmarks.studies.chosen_equilibria import cfr_sums, river_plan
from solvers.matrix.choose import Moves, solve_chosen
from solvers.matrix.lp import live_form, player_program, solve_live, solve_lp
from solvers.measure import exploitability
from solvers.reference.walk import Walker
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.learn.lp import bets_of, lp_size

CHOICES = ("entropy", "sizes", "bluff")
LP = ("--set", "solve.method=lp")
NUTS = POLARISED.replace("KhKd,JcTc,JhTh,JdTd", "KhKd").replace('bet = "a"', 'bet = "33%, 75%, a"')
# Queens beat three hands of four, and lose to aces; jacks beat nothing. A bet never gets a fold of aces.
RIVER = POLARISED.replace("KhKd,JcTc,JhTh,JdTd", "KhKd:0.5,QhQd,JcTc,8h8d,7h7c:0.3").replace(
    '"AhAd"\n[bets.river]\noop = { bet = "a" }',
    '"AhAd:0.4,QcQs,TcTd,5h5d:0.7"\n[bets.river]\nbet = "33%, 75%, a"\nraise = "60%, a"',
)


@cache
def game_of(text):
    job = Job.load(EXAMPLES / "leduc-lp.toml") if text == "leduc" else read(text)
    layout = Layout.of(job.problem)
    return layout.live, [bets_of(betting) for betting in layout.betting]


def read(text):
    import tomllib

    data = tomllib.loads(text)
    data["solve"] = {"method": "lp"}
    return Job.of(data)


@cache
def chosen(text, choice):
    return solve_chosen(*game_of(text), choice)


@pytest.mark.parametrize("choice", CHOICES)
def test_bluffs_of_a_polarised_range_may_be_split_in_any_way(choice):
    """One bluff to two value bets: three hands bluff half a hand together, and it is most mixed if they share it."""
    _, change = chosen(POLARISED, choice)
    a_sixth = -(np.log2(1 / 6) / 6 + np.log2(5 / 6) * 5 / 6)
    most = 3 * a_sixth / 4, 1.0  # the aces call half of the bets
    for measured in (change.before, change.after):
        assert [each["sizes"] for each in measured] == [1, 0]
        assert [each["bluff"] for each in measured] == pytest.approx([0.5 / 4, 0])
        assert all(each["entropy"] <= bound + 1e-9 for each, bound in zip(measured, most, strict=True))
    if choice == "entropy":
        assert [each["entropy"] for each in change.after] == pytest.approx(most, rel=0.01)
        assert all(most[p] - 1e-9 <= change.bound[p] <= 1.05 * most[p] for p in (0, 1))
    else:
        assert change.bound is None


def test_the_nuts_may_bet_any_size_or_none():
    """Aces fold to every bet, so each of the four actions wins the pot."""
    assert [each["entropy"] for each in chosen(NUTS, "entropy")[1].after] == pytest.approx([2, 0], abs=0.01)
    sizes = chosen(NUTS, "sizes")[1].after
    assert [each["sizes"] for each in sizes] == [0, 0]
    assert all(chosen(NUTS, choice)[1].after[0]["bluff"] == 0 for choice in CHOICES)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(
    "text", [POLARISED, NUTS, RIVER, TURN, "leduc"], ids=["poles", "nuts", "river", "turn", "leduc"]
)
def test_best_responses_win_nothing(text, choice):
    game, _ = game_of(text)
    found = exploitability(Walker(game), chosen(text, choice)[0]).value
    assert abs(found) < 1e-8 * (1 if text == "leduc" else 100)


@pytest.mark.parametrize("text", [RIVER, "leduc"], ids=["river", "leduc"])
def test_no_choice_is_better_at_what_another_choice_is_for(text):
    after = {choice: chosen(text, choice)[1].after for choice in CHOICES}
    first = chosen(text, "entropy")[1].before
    for p in (0, 1):
        others = [first[p], *(after[choice][p] for choice in CHOICES)]
        assert after["entropy"][p]["entropy"] >= max(each["entropy"] for each in others) - 1e-9
        assert after["sizes"][p]["sizes"] == min(each["sizes"] for each in others)
        assert after["bluff"][p]["bluff"] <= min(each["bluff"] for each in others) + 1e-9


def best_of(text, p, cost, least):
    """Minimise the cost of player p's plan under the condition that it wins at least so much: by pairs of hands."""
    form = live_form(game_of(text)[0], pairs=True)
    payoff = form.payoff if p == 0 else -form.payoff.T
    ours, theirs = form.flow[p], form.flow[1 - p]
    n, m = ours.shape[1], theirs.shape[0]
    worth = sparse.csr_matrix(np.concatenate([np.zeros(n), -form.inflow[1 - p]]))
    return linprog(
        np.concatenate([cost, np.zeros(m)]),
        A_ub=sparse.vstack([sparse.hstack([-payoff.T, theirs.T]), worth]),
        b_ub=np.concatenate([np.zeros(theirs.shape[1]), [-least]]),
        A_eq=sparse.hstack([ours, sparse.csr_matrix((ours.shape[0], m))]),
        b_eq=form.inflow[p],
        bounds=[(0, None)] * n + [(None, None)] * m,
    )


def worth_of(text, p):
    value = solve_lp(live_form(game_of(text)[0], pairs=True)).value
    return value if p == 0 else -value


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("text", [RIVER, "leduc"], ids=["river", "leduc"])
def test_bluffs_are_as_few_as_a_program_with_the_value_as_a_bound_finds(text, p):
    game, bets = game_of(text)
    moves = Moves.of(game, p, [of_round[p] for of_round in bets])
    cost = np.zeros(live_form(game).flow[p].shape[1])
    np.add.at(cost, moves.variable, moves.weight * moves.bluff)
    value = worth_of(text, p)
    fewest = best_of(text, p, cost, value - 1e-8 * abs(value)).fun / moves.total
    assert chosen(text, "bluff")[1].after[p]["bluff"] == pytest.approx(fewest, abs=1e-5)


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("text", [RIVER, "leduc"], ids=["river", "leduc"])
def test_no_size_can_be_left_out_by_itself(text, p):
    """The best plan that lacks one more size wins less than the value."""
    game, bets = game_of(text)
    moves = Moves.of(game, p, [of_round[p] for of_round in bets])
    plan = plan_of(game, p, chosen(text, "sizes")[0])
    used, value = moves.bets(plan) > 1e-7, worth_of(text, p)
    assert used.any()
    for size in np.flatnonzero(used):
        closed = ~used
        closed[size] = True
        cost = np.zeros(len(plan))
        cost[moves.variable[(moves.size >= 0) & closed[moves.size]]] = 1.0
        assert best_of(text, p, cost, value - 1e-9).fun > 1e-7


def plan_of(game, p, sums):
    """The plan of strategy sums that are a plan already."""
    parts = []
    for t, r in enumerate(game.rounds):
        width = r.hands[p].row.shape[1]
        for b in range(r.n_boards):
            roots = np.zeros((r.forest.n_roots, width)) if t else game.reach[p]
            parts.append(np.concatenate([roots, sums[t][p][b]]).ravel())
    return np.concatenate(parts)


@pytest.mark.parametrize("p", [0, 1])
def test_both_players_programs_have_the_same_optimum(p):
    """The second player's program with running sums is the dual of the first player's."""
    game = Layout.of(
        Job.load(
            EXAMPLES / "R1.toml", ["spot.oop=66-22,KQs,AJs", "spot.ip=77-44,KQs,AQs", "solve.method=lp"]
        ).problem
    ).live
    form = live_form(game)
    assert form.sums is not None
    program, value = player_program(form, p), solve_lp(form).value
    free = len(program.cost) - program.n_plan
    found = linprog(
        program.cost,
        A_ub=program.upper,
        b_ub=np.zeros(program.upper.shape[0]),
        A_eq=program.equal,
        b_eq=program.right,
        bounds=[(0, None)] * program.n_plan + [(None, None)] * free,
    )
    scale = program.chips * program.entering[0] * program.entering[1]
    assert found.fun * scale == pytest.approx(-value if p == 0 else value, rel=1e-7)


def test_the_most_mixed_plan_is_at_least_as_mixed_as_cfr():
    game, bets = game_of(POLARISED)
    by_cfr = cfr_sums(read(POLARISED), "0.0001%")
    for p in (0, 1):
        moves = Moves.of(game, p, [of_round[p] for of_round in bets])
        mixed = moves.entropy(river_plan(game, p, by_cfr))
        assert chosen(POLARISED, "entropy")[1].after[p]["entropy"] >= mixed - 0.01
        assert mixed <= chosen(POLARISED, "entropy")[1].bound[p] + 0.001


def test_measures_of_a_strategy_are_those_of_the_naive_sums():
    game, bets = game_of(RIVER)
    sums, (r,) = solve_live(game), game.rounds
    for p in (0, 1):
        plan = river_plan(game, p, sums).reshape(-1, r.hands[p].row.shape[1])
        moves = Moves.of(game, p, [bets[0][p]])
        total = bluff = 0.0
        used = set()
        ours, theirs = r.hands[p], r.hands[1 - p]
        a = r.forest.arrays
        for n in range(r.forest.n_nodes):
            for k in range(int(a.n_actions[n]) if a.player[n] == p else 0):
                for h in range(int(ours.n_hands[0])):
                    x, before = plan[r.forest.n_roots + a.slot[n] + k, h], plan[a.sequence[p, n], h]
                    total -= x * np.log2(x / before) if x > 0 else 0
                    if not bets[0][p][a.slot[n] + k]:
                        continue
                    used |= {a.slot[n] + k} if x > 1e-7 else set()
                    met = [
                        (theirs.weight[0, o], np.sign(ours.strength[0, h] - theirs.strength[0, o]))
                        for o in range(int(theirs.n_hands[0]))
                        if not set(ours.cards[0, h]) & set(theirs.cards[0, o])
                    ]
                    bluff += x if sum(w * s for w, s in met) < 0 else 0
        size = game.reach[p].sum()
        found = moves.measures(plan.ravel())
        assert found == pytest.approx({"entropy": total / size, "sizes": len(used), "bluff": bluff / size})


def test_locked_hands_keep_their_frequencies(tmp_path):
    job = write(tmp_path, POLARISED + '[[lock]]\nline = ""\nhands = { JcTc = [0.6, 0.4] }\n')
    found = good_json("solve", job, "--out", tmp_path / "out", *LP, "--set", "solve.choose=entropy")
    assert abs(found["exploitability"]) < 1e-7
    hands = good_json("show", tmp_path / "out")["hands"]
    assert hands["JcTc"]["strategy"] == pytest.approx([0.6, 0.4])
    assert hands["JhTh"]["strategy"][1] == pytest.approx(0.05, abs=0.01)  # the rest of half a hand, shared


def test_the_result_says_what_was_chosen_and_keeps_it(tmp_path):
    job, folder = write(tmp_path, POLARISED), tmp_path / "out"
    options = ("--out", folder, *LP, "--set", "solve.choose=entropy")
    found = good_json("solve", job, *options)["choice"]
    assert (found["choose"], found["sizes"]) == ("entropy", {"before": [1, 0], "after": [1, 0]})
    assert found["programs"] >= 3
    assert found["entropy"]["after"][0] > found["entropy"]["before"][0]
    again = good("solve", job, *options)
    assert "choice          entropy, by " in again
    assert "bet sizes       oop 1 (before 1), ip 0 (before 0)" in again
    assert good_json("solve", job, *options)["choice"] == json.loads(json.dumps(found))
    assert good_json("solve", job, "--out", tmp_path / "plain", *LP)["choice"] is None
    assert "solve.choose" in refused("solve", job, "--out", folder, *LP, "--set", "solve.choose=sizes")


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        (KUHN, [], 'solve.method = "lp" and solve.integrate = "regret", found "cfr"'),
        (
            LEDUC,
            ["solve.method=lp", "solve.integrate=average", "solve.leaves=auto"],
            'found "lp" and "average"',
        ),
        (KUHN, ["solve.method=lp", "solve.choose=value"], "solve.choose"),
    ],
)
def test_refused(text, options, named, tmp_path):
    sets = [part for option in ["solve.choose=bluff", *options] for part in ("--set", option)]
    assert named in refused("solve", write(tmp_path, text), "--out", tmp_path / "out", *sets)
    assert not (tmp_path / "out").exists()


def test_the_estimate_counts_further_programs():
    problem = Job.load(EXAMPLES / "R1.toml", ["solve.method=lp"]).problem
    one, *more = (lp_size(problem, choice) for choice in (None, *CHOICES))
    assert all(1.5 * one.minutes < size.minutes and one.memory_bytes < size.memory_bytes for size in more)
    assert [size.nonzeros for size in more] == [one.nonzeros] * 3
