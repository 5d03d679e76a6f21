"""Before the flop, a bet that the stored tree lacks is added, and the betting round solved."""

from random import Random

import numpy as np
import pytest
from bot_games import any_action, dealt, played_out, seen_by

from spewy import open_bot
from spewy.bot.agent import bot_of
from spewy.bot.options import Options
from spewy.bot.resolving import preflop
from spewy.bot.resolving.builder import Root, split_actions
from spewy.bot.resolving.preflop import FlopValues, _Sample, last_raiser, rounded
from spewy.bot.tally import Tally
from spewy.game.betting import Betting
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.records.caches import PREFLOP_FILE

REPEATABLE = {"iterations": 12, "seconds": None, "ready": False}
HOLDEM = load_game("holdem.nolimit.2p.100bb")


@pytest.fixture(scope="module")
def bot(folders):
    with open_bot(folders["no-limit"], **REPEATABLE) as bot:
        yield bot


def test_payoffs_are_those_of_the_stored_strategy(bot):
    """Two hands on a full board, followed hand by hand through every line of the stored tree."""
    policy, values = bot._blueprint._policy, bot._preflop.values
    sample = _Sample(values, bot._blueprint, bot._blueprint.abstraction, range(2))

    def value(node, board, cards):
        if node.kind == "fold":
            return node.put_in[1] if node.player == 1 else -node.put_in[0]
        if node.kind == "showdown":
            return min(node.put_in) * ahead
        if node.kind == "chance":
            return value(node.children[0], board, cards)
        on_board = board[: policy.problem.game.board_sizes[node.round]]
        often = policy.frequencies(node.line, on_board, cards[node.player])
        return sum(
            share * value(child, board, cards) for share, child in zip(often, node.children, strict=True)
        )

    rng, n = Random(1), len(values.size)
    for line in (values.lines[0], values.lines[-1]):
        won = sample.won(line.node)
        for _ in range(6):
            d, g, h = rng.randrange(2), rng.randrange(n), rng.randrange(n)
            if sample.weight[d, g, h]:
                cards = [tuple(bot.hands[sample.hands[p][d, i]].tolist()) for p, i in ((0, g), (1, h))]
                ahead = sample.ahead[d, g, h]
                expected = value(line.node, tuple(sample.boards[d].tolist()), cards)
                assert won[d, g, h] == pytest.approx(expected, abs=1e-3 * line.put_in)


def test_payoffs_between_stored_pots_are_interpolated(bot):
    values = bot._preflop.values
    stack = bot.game.stacks[0]
    (smaller, larger, *_) = (line for line in values.lines if line.raiser == values.lines[-1].raiser)
    between = (smaller.put_in + 3 * larger.put_in) // 4
    (_, first), (_, second) = values.around(between, smaller.raiser)
    assert first * smaller.put_in + second * larger.put_in == pytest.approx(between)
    ends = [values.payoffs(line.put_in, line.raiser) for line in (smaller, larger)]
    np.testing.assert_allclose(values.payoffs(between, smaller.raiser), first * ends[0] + second * ends[1])
    allin = values.payoffs(stack, 0)  # who is ahead at the end, which has no sign for equal groups
    np.testing.assert_allclose(np.diag(allin), 0, atol=1e-9)
    np.testing.assert_allclose(values.joint * (allin + allin.T), 0, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_rounded_bets_are_legal_and_near(seed):
    rng, betting = Random(seed), Betting.start(HOLDEM)
    while betting.round == 0 and betting.to_act is not None:
        betting = betting.apply(any_action(Hand(betting, (None, None), ()), rng))
        made = betting.rounds[0]
        near = Betting.start(HOLDEM)
        for real, action in zip(made, rounded(made, Betting.start(HOLDEM)), strict=True):
            assert real[0] == action[0]
            if real[0] == "r":
                assert (int(action[1:]) == HOLDEM.stacks[0]) >= (int(real[1:]) == HOLDEM.stacks[0])
            near = near.apply(action)  # raises an error unless it is legal
    assert rounded(("r237", "r1111"), Betting.start(HOLDEM)) == ("r225", "r1100")


def test_who_raised_last():
    assert last_raiser(HOLDEM, split_actions("cr300r900c/")) == 1
    assert last_raiser(HOLDEM, split_actions("r300c/")) == 1
    assert last_raiser(HOLDEM, split_actions("cc/")) is None


def test_every_raise_before_the_flop_is_answered_by_a_solve(bot):
    """Also after two of them, where translation ends outside of the tree; ranges and the flop follow."""
    hand = Hand.start(bot.game)
    bot.new_hand(hand, 0, 1)
    for bet in ("r27", "r70", "r160"):
        hand = hand.apply(bet)
        answer = bot.answer(hand)
        assert answer.source == "re-solved"
        assert {"f", "c"} < set(answer.actions)
        np.testing.assert_allclose(answer.frequencies.sum(axis=0), 1)
    assert f"r{bot.game.stacks[0]}" in answer.actions
    hand = hand.apply("c").deal(bot.game.deck.cards[:3])
    assert bot.answer(hand).source != "fallback"
    assert all(len(np.unique(each.round(6))) > 2 for each in bot.ranges(hand))


def test_a_solve_converges_and_keeps_what_was_played(bot):
    solver, root = bot._preflop, bot._builder.with_bets(Root(0, 0, None), ("r27", "r70"))
    solved = solver.solve(root, {})
    assert solver.gap(root, solved) < 0.01 * bot.game.big_blind
    kept = {"": np.zeros_like(solved.frequencies("", ()))}
    kept[""][1] = 1.0
    locked = solver.solve(root, kept)
    np.testing.assert_allclose(locked.frequencies("", ()), kept[""], atol=1e-6)
    assert solver.solve(root, kept) is locked
    assert solver.solve(root, {}) is solved


def test_the_best_hands_do_not_fold(bot):
    """An independent view of the payoffs: against an all-in, hands call by their equity."""
    hand = Hand.start(bot.game).apply("r27").apply(f"r{bot.game.stacks[0]}")
    answer = bot.answer(hand)
    calls = answer.frequencies[answer.actions.index("c")]
    equity = bot._preflop.values.payoffs(bot.game.stacks[0], 0).mean(axis=1)[bot._preflop.values.group]
    assert calls[equity.argmax()] > 0.99
    assert np.corrcoef(calls, equity)[0, 1] > 0.5


def test_a_solve_without_time_is_short_where_nothing_is_stored(folders):
    """Four raises on the flop: the stored tree ends after two."""
    with bot_of(folders["no-limit"], Options(seconds=1e-9, strict=True)) as bot:
        hand = Hand.start(bot.game).apply("c").apply("c").deal(bot.game.deck.cards[:3])
        bot.new_hand(Hand.start(bot.game), 0, 1)
        for bet in ("r20", "r60", "r110", "r180"):
            hand = hand.apply(bet)
        assert bot._beliefs._play.node(bot._beliefs.at(hand)) is None
        assert bot.answer(hand).source == "re-solved"
    assert bot.tally.reasons["OutOfTimeError"] == 1


def test_payoffs_are_kept_in_the_folder(bot, tmp_path, monkeypatch):
    blueprint = bot._blueprint
    made = FlopValues(blueprint, blueprint.abstraction, tmp_path / PREFLOP_FILE)
    first = made.payoffs(100, 1)
    monkeypatch.setattr(preflop, "_Sample", None)
    np.testing.assert_allclose(
        FlopValues(blueprint, blueprint.abstraction, tmp_path / PREFLOP_FILE).payoffs(100, 1),
        first,
        atol=1e-6,
    )
    monkeypatch.undo()
    (tmp_path / PREFLOP_FILE).write_bytes(b"damaged")
    again = FlopValues(blueprint, blueprint.abstraction, tmp_path / PREFLOP_FILE).payoffs(100, 1)
    np.testing.assert_allclose(again, first, atol=1e-6)


def counted(bot, hands, first=0):
    """Play hands against an opponent that raises any amount in every round; count the sources of decisions."""
    bot.tally.take()
    for seed in range(first, first + hands):
        rng, seat = Random(seed), seed % 2
        hand, coming = dealt(bot.game, rng)
        bot.new_hand(seen_by(hand, seat), seat, seed)

        def choose(hand, rng=rng, seat=seat):
            return bot.act(seen_by(hand, seat)) if hand.to_act == seat else any_action(hand, rng)

        bot.hand_over(played_out(hand, coming, choose)[0])
    return Tally.of([bot.tally.take()])


@pytest.mark.parametrize("resolve", ["off-tree", "always"])
def test_no_decision_falls_back_to_pot_odds(folders, resolve):
    options = Options(resolve, iterations=12, deals=64, seconds=None, strict=True)
    with bot_of(folders["no-limit"], options) as bot:
        tally = counted(bot, 50)
    assert not tally.sources["fallback"]
    assert tally.sources["re-solved"] > tally.sources["translated"]
    assert not tally.failures


@pytest.mark.slow
def test_no_decision_falls_back_in_thousands_of_hands(folders):
    options = Options(iterations=12, deals=64, seconds=None, strict=True)
    with bot_of(folders["no-limit"], options) as bot:
        tally = counted(bot, 3000)
    assert tally.sources["translated"] < 0.2 * tally.sources.total()
    assert not tally.sources["fallback"]
    assert not tally.failures
