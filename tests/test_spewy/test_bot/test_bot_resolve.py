"""Sub-games solved at the table: as good as the exact solve of the same spot, and safe where that is asked for."""

import time
from functools import cache
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from bot_games import LIMIT_GAME
from jobs import toy
from naive_spot import NaiveSpot
from open_spiel.python.algorithms.exploitability import exploitability
from spiel import tabular_policy

from buckets.cards import blocked, hand_name, hands, parse_cards
from spewy.bot.agent import LockerBot
from spewy.bot.options import Options
from spewy.bot.resolving import budget
from spewy.bot.resolving import resolve as resolving
from spewy.bot.resolving.budget import OutOfTimeError, Pace
from spewy.bot.resolving.builder import Root, SubgameBuilder, live_game
from spewy.bot.resolving.resolve import Limits, Safety, best_responses, resolve
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.game.betting import parse_line
from spewy.game.gamefile import parse_game
from spewy.game.hand import Hand
from spewy.game.treeconfig import game_config, player_sizes
from spewy.job.job import Job
from spewy.records.policy import ChunkPolicy, Stacked
from spewy.run.session import Session

RIVER = {
    "name": "river",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {
        "board": "Ks 9d 6h 3c 2s",
        "pot": 200,
        "stack": 900,
        "oop": "KK,99,JTs,QJs:0.5,A9s,87s",
        "ip": "AA,K9s,T8s,66,KQo:0.25,54s",
    },
    "bets": {"river": {"bet": "50%, a", "raise": "100%"}},
    "tree": {"min_bet": 100},
    "solve": {"target": "0.05%", "max_sweeps": 5000},
}
BOARD = parse_cards("Ks 9d 6h 3c 2s")
SIZES = player_sizes("50%, a", "100%")


def river_games(job):
    return SubgameBuilder(game_config(job.rules, {0: (SIZES, SIZES)}))


class Table(NaiveSpot):
    """A spot's judge of what was re-solved; the spot's ranges, the table's strategies."""

    def __init__(self, job, resolved):
        super().__init__(
            job, SimpleNamespace(layout=Layout.of(job.problem), solver=SimpleNamespace(sums=None))
        )
        self.resolved = resolved

    def strategy(self, node, board):
        return self.resolved.frequencies(node.line, board)[:, self.held]


def judged(job, resolved):
    """Exploitability and value of player 0, in % of the pot, of a river's re-solved strategies."""
    table = Table(job, resolved)
    (best, value), (other, _) = table.best_response(0), table.best_response(1)
    return 50 * (best + other) / job.spot.pot, 100 * value / job.spot.pot


@cache
def solved_river(oop_bets="50%, a"):
    """A job, and what its own solve is worth to player 0 in % of the pot."""
    bets = RIVER["bets"]["river"]
    job = Job.of(RIVER | {"bets": {"river": {"oop": bets | {"bet": oop_bets}, "ip": bets}}})
    result = Session(job).solve()
    return job, 100 * (result.ev[0] - job.spot.pot / 2) / job.spot.pot


def test_a_re_solved_river_is_the_spots_exact_solve():
    job, value = solved_river()
    found = resolve(river_games(job), Root(3, 100, 900), BOARD, job.problem.ranges, Limits(600))
    exploitability, mine = judged(job, found)
    assert exploitability < 0.2
    assert mine == pytest.approx(value, abs=0.4)


def test_an_actual_bet_is_answered_as_where_it_is_a_size_of_the_tree():
    job, value = solved_river("50%, 65%, a")
    games, root = river_games(job), Root(3, 100, 900, extra_bets=("r130",))
    found = resolve(games, root, BOARD, job.problem.ranges, Limits(600))
    exploitability, mine = judged(job, found)
    assert exploitability < 0.2
    assert mine == pytest.approx(value, abs=0.4)


def test_a_bet_that_is_not_legal_is_refused():
    job, _ = solved_river()
    with pytest.raises(InputError, match="action 'r74' after '': expected c, r100 to r900"):
        river_games(job).tree(Root(3, 100, 900, extra_bets=("r74",)))


def test_play_goes_on_within_a_round():
    """A subgame whose root lies behind a bet has what follows the bet in the round's own subgame."""
    job, _ = solved_river()
    games, ones = river_games(job), job.problem.ranges
    whole = {node.line for node in games.tree(Root(3, 100, 900)).nodes()}
    part = {node.line for node in games.tree(Root(3, 100, 900, ("c", "r100"))).nodes()}
    assert part == {line for line in whole if line.startswith("cr100")}
    found = resolve(games, Root(3, 100, 900, ("c", "r100")), BOARD, ones, Limits(20))
    assert found.frequencies("cr100", BOARD).shape[0] == 3


def test_a_budget_of_time_ends_a_solve(monkeypatch):
    """On a clock that each look moves on by a second."""
    job, _ = solved_river()
    looks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(looks)))
    for module in (resolving, budget):
        monkeypatch.setattr(module, "time", clock)
    games = river_games(job)
    found = resolve(games, Root(3, 100, 900), BOARD, job.problem.ranges, Limits(1_000_000, 20.0))
    assert 1 < found.iterations < 1_000_000
    with pytest.raises(
        OutOfTimeError, match=r"stages first, judge, judge: 3\.00 s are needed, and 0\.00 s remain"
    ):
        resolve(games, Root(3, 100, 900), BOARD, job.problem.ranges, Limits(100, 0.0))


def test_a_machine_that_becomes_slower_while_it_solves_has_time_left_for_that(monkeypatch):
    """The machine becomes three times slower in the middle of the budget; both best responses still fit."""
    now, known = [0.0], Pace()
    for module in (resolving, budget):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def work(seconds):
        now[0] += seconds * (1 if now[0] < 100 else 3)

    with known.timed("judge", 50):
        work(2.0)
    resolving._run(work, Limits(1_000_000, 200.0), known, 50)
    assert 150 < now[0] < 200
    work(2 * 2.0)
    assert now[0] < 1.1 * 200


def test_a_stage_that_does_not_fit_is_left_out_and_after_some_times_counts_as_fast_as_it_was(monkeypatch):
    now, known = [0.0], Pace()
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: now[0]))
    known.require(1e-6, 100, "read", "judge")  # neither stage was measured yet
    known.took("read", 100, 7.0)
    assert [known.seconds("read", size) for size in (100, 200)] == pytest.approx([7.0, 14.0])
    known.took("read", 100, 10.0)
    assert known.seconds("read", 100) == pytest.approx(9.0)
    known.took("read", 100, 0.1, whole=False)
    known.took("read", 100, 18.0)
    known.require(None, 10**9, "read")
    for _ in range(100):  # too little also for the fastest
        with pytest.raises(OutOfTimeError):
            known.require(6.9, 100, "read")
    for _ in range(budget.PATIENCE):
        assert known.seconds("read", 100) > 8
        with pytest.raises(OutOfTimeError):
            known.require(7.1, 100, "read")
    known.require(7.1, 100, "read")
    known.took("read", 1, 1.0)  # a small one in which the machine did something else
    assert known.seconds("read", 100) < 10
    known.forget()
    assert known.seconds("read", 100) == 0.0


@pytest.mark.parametrize("slow_for_good", [False, True])
def test_solves_go_on_after_the_machine_stood_still_and_slow_ones_are_seldom_tried(
    monkeypatch, slow_for_good
):
    """A second for each solve; an iteration takes a tenth of it, and one of them, or all from then on, 2.5 seconds."""
    job, _ = solved_river()
    games, now, cost, run = river_games(job), [0.0], [0.1], resolving._run
    for module in (resolving, budget):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def work(few):
        now[0] += few * cost[0]

    monkeypatch.setattr(resolving, "_run", lambda iterate, *rest: run(lambda n: iterate(n) or work(n), *rest))

    def solves():
        now[0] += 100.0
        try:
            resolve(games, Root(3, 100, 900), BOARD, job.problem.ranges, Limits(1, now[0] + 1.0))
        except OutOfTimeError:
            return False
        return True

    assert solves()
    cost[0] = 2.5
    assert solves()
    cost[0] = 2.5 if slow_for_good else 0.1
    tried = [solves() for _ in range(100)]
    if slow_for_good:
        assert 0 < sum(tried) <= 100 / budget.PATIENCE
    else:
        assert all(tried[budget.PATIENCE :])


@pytest.mark.parametrize("known", [0, 1])
def test_a_solve_goes_on_from_what_could_be_read(known):
    """Where the locker fails for the second player, and for both."""
    job, _ = solved_river()
    games, root, ones = river_games(job), Root(3, 100, 900), job.problem.ranges
    before = resolve(games, root, BOARD, ones, Limits(300))

    def plays(lines, board):
        return Stacked.by_hand(np.concatenate([before.frequencies(line, board) for line in lines]))

    def fails(lines, board):
        raise InputError("not there")

    begun = resolve(games, root, BOARD, ones, Limits(3), ((plays, fails) if known else (fails, fails)))
    assert begun.iterations == 3
    late = Limits(3, time.monotonic() + 1000)  # with a deadline, memory is touched first
    timed = resolve(games, root, BOARD, ones, late, ((plays, fails) if known else (fails, fails)))
    assert np.array_equal(timed.frequencies("c", BOARD), begun.frequencies("c", BOARD))
    cold = resolve(games, root, BOARD, ones, Limits(3))
    assert judged(job, begun)[0] < (0.8 if known else 1.01) * judged(job, cold)[0]


def test_subgames_that_are_too_large_or_of_nothing_are_refused():
    game = parse_game(LIMIT_GAME, "small")
    ones, board = np.ones(105), game.deck.cards[:4]
    small = SubgameBuilder(game_config(game), most_bytes=1000)
    with pytest.raises(InputError, match=r"subgame after '' in round 2: expected at most 0 MiB, found 0 MiB"):
        resolve(small, Root(2, 20, None), board, (ones, ones), Limits(1))
    with pytest.raises(InputError, match="subgame in round 2: the pot at its root is empty"):
        SubgameBuilder(game_config(game)).tree(Root(2, 0, None))


# Safety: a turn of a small deck, solved well, whose rivers are solved again


TURN = Root(2, 20, None)
GAMES = SubgameBuilder(game_config(parse_game(LIMIT_GAME, "small")))
CARDS = GAMES.game.deck.cards[:12:3]


@cache
def blueprint():
    """Ranges of a few hands each, and the turn that is solved with them."""
    rng = np.random.default_rng(2)
    live = ~blocked(hands(GAMES.game.deck, 2), CARDS)
    ranges = live * rng.random(GAMES.n_hands) ** 8, live * rng.random(GAMES.n_hands) ** 8
    return ranges, resolve(GAMES, TURN, CARDS, ranges, Limits(3000))


def stacked(after):
    """Decisions one after another, of what tells each alone."""
    return lambda lines, board: Stacked.by_hand(np.concatenate([after(line, board) for line in lines]))


def exploitability_of(after):
    """In % of the pot, of strategies for both players on the turn and all rivers."""
    ranges, _ = blueprint()
    plays = stacked(after)
    layout = GAMES.layout(TURN, CARDS)
    weight = live_game(layout, ranges).deal_weight * ranges[0].max() * ranges[1].max()
    best = [
        best_responses(GAMES, TURN, CARDS, 1 - p, ranges[1 - p], plays) * ranges[1 - p].max() for p in (0, 1)
    ]
    return 50 * sum(float(ranges[p] @ best[p]) for p in (0, 1)) / weight / TURN.pot


def ranges_at(line, river):
    """Both ranges where a river is entered, by the blueprint."""
    (first, second), solved = blueprint()
    out = [first, second]
    played, tokens = "", line.rstrip("/")
    for token in tokens:
        _, _, node = GAMES.decision(TURN, played)
        action = [each.acpc for each in node.actions].index(token)
        out[node.player] = out[node.player] * solved.frequencies(played, CARDS)[action]
        played += token
    dead = blocked(hands(GAMES.game.deck, 2), river)
    return [np.where(dead, 0, mine) for mine in out]


def with_rivers(how):
    """The blueprint with all rivers solved again: for both at once, or for each of them safely."""
    _, solved = blueprint()
    done = {}

    def river(line, board, player):
        before, after = line[: line.index("/") + 1], line[line.index("/") + 1 :]
        mine = player if how else 0
        if (before, board, mine) not in done:
            spent = GAMES.tree(TURN).find(before).put_in[0]
            root, ranges = Root(3, 20 + spent, None), ranges_at(before, board)
            if how:
                plays = stacked(lambda rest, cards: solved.frequencies(before + rest, cards))
                values = best_responses(GAMES, root, board, mine, ranges[mine], plays)
                found = resolve(
                    GAMES, root, board, tuple(ranges), Limits(100), safety=Safety(mine, values, how)
                )
            else:
                found = resolve(GAMES, root, board, tuple(ranges), Limits(100))
            done[before, board, mine] = found
        return done[before, board, mine].frequencies(after, board)

    def after(line, board):
        if "/" not in line:
            return solved.frequencies(line, board)
        return river(line, board, GAMES.decision(TURN, line)[2].player)

    return after


def test_only_safe_forms_solve_rivers_again_without_a_loss():
    before = exploitability_of(blueprint()[1].frequencies)
    assert before < 0.01
    assert exploitability_of(with_rivers(None)) > 3
    for gadget in ("cfr-d", "mixed"):
        assert exploitability_of(with_rivers(gadget)) < before + 0.5


def exploitability_of_bot(bot, name):
    """OpenSpiel's exploitability, in chips, of what a bot says that it plays at every public state."""
    deck = hands(bot.game.deck, 1)

    def node(place):
        hand = Hand(parse_line(bot.game, place.line), board=place.cards)
        mix = bot.strategy(hand)
        names = [hand_name(deck[number]) for number in mix.hands]
        return SimpleNamespace(player=hand.to_act, hands=names, strategy=mix.frequencies)

    return exploitability(*tabular_policy(SimpleNamespace(node=node), name))


def test_whole_games_of_single_cards_are_re_solved_too():
    job = toy("leduc", max_sweeps=600, leaves="live")
    session = Session(job)
    session.solve()
    policy, found = ChunkPolicy(job.problem, session.store), []
    for how in (("never",), ("always",), ("always", 2, "cfr-d")):
        bot = LockerBot(policy, Options(*how, iterations=150, seconds=None))
        found.append(exploitability_of_bot(bot, "leduc"))
    before, unsafe, safe = found
    assert before < 0.005
    assert safe < unsafe / 2
