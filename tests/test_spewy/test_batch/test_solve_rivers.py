"""Many rivers in one call: the same solutions as single solves, and clear errors."""

import numpy as np
import pytest
from jobs import solved

import spewy
from buckets.cards import Deck, blocked, hands, parse_cards
from spewy import InputError, Job
from spewy.game.ranges import parse_range

HANDS = hands(Deck(), 2)
BOARDS = ["Qs 7h 2d 3c 9s", "As Ks Qs 4d 4h", "Td 9d 6h Qc As"]
OOP, IP = "AA,KQs,JTs,98s,54s", "KK,87s,AQs,22"
JOB = {
    "name": "river",
    "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
    "spot": {"board": BOARDS[0], "pot": 100, "stack": 250, "oop": OOP, "ip": IP},
    "bets": {"river": {"bet": "50%, a", "raise": "a"}},
    "solve": {"target": "0.05%"},
}

BETS = {"turn": {"bet": "a"}, "river": {"bet": "a"}}


def weights(text):
    return parse_range(text).weights


@pytest.fixture(scope="module")
def rivers():
    return spewy.solve_rivers(Job.of(JOB), BOARDS, weights(OOP), weights(IP))


@pytest.mark.parametrize("number", range(len(BOARDS)))
def test_each_river_is_the_single_solve(rivers, number):
    """The second route: a session with its plan, lockers and views."""
    solution = solved(Job.of(JOB | {"spot": JOB["spot"] | {"board": BOARDS[number]}}))[1]
    result = solution.result
    assert rivers.sweeps[number] == result.sweeps
    assert rivers.exploitability_pct[number] == pytest.approx(result.exploitability_pct, rel=1e-6)
    node = solution.node("")
    assert rivers.actions == node.actions
    position = {tuple(sorted(hand)): h for h, hand in enumerate(HANDS.tolist())}
    places = [position[tuple(sorted(parse_cards(name)))] for name in node.hands]
    np.testing.assert_allclose(rivers.strategy[number][:, places], node.strategy, atol=2e-6)
    np.testing.assert_allclose(rivers.ev[number, 0, places], node.ev, atol=1e-3)
    assert np.isnan(rivers.ev[number, 0]).sum() == len(HANDS) - len(places)


def test_evs_of_both_players_share_the_pot(rivers):
    """Each pair of hands that can be dealt wins the pot of 100 together."""
    for number, board in enumerate(BOARDS):
        free = ~blocked(HANDS, parse_cards(board))
        own, other = weights(OOP) * free, weights(IP) * free
        shared = (HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
        pairs = own[:, None] * other[None, :] * ~shared
        ev = np.nan_to_num(rivers.ev[number])
        total = (pairs.sum(axis=1) @ ev[0] + pairs.sum(axis=0) @ ev[1]) / pairs.sum()
        assert total == pytest.approx(100, abs=1e-3)


def test_ranges_by_river_numbers_for_cards_and_threads_change_nothing(rivers):
    cards = np.array([parse_cards(board) for board in BOARDS * 30])
    own = np.broadcast_to(weights(OOP), (len(cards), len(HANDS)))
    many = spewy.solve_rivers(Job.of(JOB), cards, own, 3.0 * weights(IP), workers=2)
    for name in ("ev", "strategy", "exploitability_pct", "sweeps"):
        one = getattr(rivers, name)
        np.testing.assert_array_equal(getattr(many, name), np.concatenate([one] * 30))


def test_no_rivers_are_no_work():
    empty = spewy.solve_rivers(Job.of(JOB), [], weights(OOP), weights(IP))
    assert empty.ev.shape == (0, 2, 1326)


def test_rake_is_taken():
    raked = Job.of(JOB | {"spot": JOB["spot"] | {"rake": {"rate": 0.05}}})
    rivers = spewy.solve_rivers(raked, BOARDS[:1], weights(OOP), weights(IP))
    solution = spewy.solve(raked)
    assert rivers.sweeps[0] == solution.result.sweeps
    assert rivers.exploitability_pct[0] == pytest.approx(solution.result.exploitability_pct, rel=1e-5)
    assert np.nanmax(rivers.ev[0, 0]) == pytest.approx(solution.node("").ev.max(), abs=1e-3)


def test_pots_and_stacks_of_each_river():
    """The second route: a job for each river. Rivers of small pots have fewer actions, because bets become all-in."""
    pots, stacks = [100, 40, 100, 90], [250, 250, 30, 250]
    boards = [BOARDS[0], BOARDS[1], BOARDS[2], BOARDS[0]]
    rivers = spewy.solve_rivers(
        Job.of(JOB), boards, weights(OOP), weights(IP), pots=pots, stacks=stacks, workers=2
    )
    for number, (board, pot, stack) in enumerate(zip(boards, pots, stacks, strict=True)):
        spot = JOB["spot"] | {"board": board, "pot": pot, "stack": stack}
        alone = spewy.solve_rivers(Job.of(JOB | {"spot": spot}), [board], weights(OOP), weights(IP))
        n_actions = len(alone.actions)
        assert rivers.river_actions[number] == alone.actions
        assert rivers.sweeps[number] == alone.sweeps[0]
        assert rivers.exploitability_pct[number] == pytest.approx(alone.exploitability_pct[0], rel=1e-12)
        np.testing.assert_array_equal(rivers.ev[number], alone.ev[0])
        np.testing.assert_array_equal(rivers.strategy[number, :n_actions], alone.strategy[0])
        assert np.isnan(rivers.strategy[number, n_actions:]).all()
    assert len({len(actions) for actions in rivers.river_actions}) > 1


def test_every_action_of_both_first_decisions():
    """The second route: the views of a session's solution, in which a river's EVs are computed node by node."""
    rivers = spewy.solve_rivers(Job.of(JOB), BOARDS, weights(OOP), weights(IP), every_action=True)
    position = {tuple(sorted(hand)): h for h, hand in enumerate(HANDS.tolist())}
    for number, board in enumerate(BOARDS):
        solution = solved(Job.of(JOB | {"spot": JOB["spot"] | {"board": board}}))[1]
        root = solution.node("")
        places = [position[tuple(sorted(parse_cards(name)))] for name in root.hands]
        np.testing.assert_allclose(rivers.action_ev[number][:, places], root.action_ev, atol=2e-3)
        for a, step in enumerate(root.children):
            node = solution.node(step.line)
            assert rivers.reply_actions[number][a] == node.actions
            places = [position[tuple(sorted(parse_cards(name)))] for name in node.hands]
            n = len(node.actions)
            strategy, ev = rivers.reply_strategy[number, a, :n], rivers.reply_ev[number, a, :n]
            np.testing.assert_allclose(strategy[:, places], node.strategy, atol=2e-6)
            known = ~np.isnan(node.action_ev[0])
            assert known.any()
            np.testing.assert_allclose(
                ev[:, places][:, known], node.action_ev[:, known], atol=1e-2
            )  # few hands bet, so single precision has fewer digits
            assert np.isnan(rivers.reply_ev[number, a, n:]).all()
    alone = spewy.solve_rivers(Job.of(JOB), BOARDS, weights(OOP), weights(IP))
    np.testing.assert_array_equal(rivers.ev, alone.ev)
    assert alone.reply_ev is None


@pytest.mark.parametrize("rake", [{"rate": 0}, {"rate": 0.05, "cap": 4}])
def test_fractional_pots_are_the_same_game_in_smaller_chips(rake):
    """The second route: the same river with all amounts a thousand times as large."""
    bets = {"river": {"bet": "50%, 20c", "raise": "a"}}
    job = JOB | {"spot": JOB["spot"] | {"rake": rake}, "bets": bets}
    pots, stacks = [100.25, 7.5, 100], [250, 20.001, 250]
    rivers = spewy.solve_rivers(
        Job.of(job), BOARDS, weights(OOP), weights(IP), pots=pots, stacks=stacks, every_action=True
    )
    large = {"pot": 100_000, "stack": 250_000, "rake": rake | {"cap": 4000}}
    thousandfold = job | {
        "spot": JOB["spot"] | large,
        "bets": {"river": {"bet": "50%, 20000c", "raise": "a"}},
    }
    other = spewy.solve_rivers(
        Job.of(thousandfold),
        BOARDS[:2],
        weights(OOP),
        weights(IP),
        pots=[100_250, 7500],
        stacks=[250_000, 20_001],
        every_action=True,
    )
    assert rivers.river_actions[0] == ("check", "bet 20", "bet 50.125")
    assert (rivers.exploitability_pct < 0.05).all()
    np.testing.assert_allclose(rivers.strategy[0], other.strategy[0], atol=1e-4)
    for name, chips in (("ev", 0.02), ("action_ev", 0.02), ("reply_ev", 0.2)):  # some bets are rare
        first, second = getattr(rivers, name)[0], getattr(other, name)[0] / 1000
        np.testing.assert_allclose(first, second, rtol=1e-3, atol=chips)
    # single precision rounds amounts in chips otherwise, so the second river needs other numbers of iterations
    mean = [np.nanmean(found.ev[1], axis=1) for found in (rivers, other)]
    np.testing.assert_allclose(1000 * mean[0], mean[1], atol=0.002 * 7500)
    whole = spewy.solve_rivers(Job.of(job), BOARDS[2:], weights(OOP), weights(IP))
    np.testing.assert_array_equal(rivers.ev[2], whole.ev[0])


def test_progress_is_told():
    heard = []
    cards = np.array([parse_cards(board) for board in BOARDS * 50])
    spewy.solve_rivers(Job.of(JOB), cards, weights(OOP), weights(IP), workers=2, listener=heard.append)
    assert [event.done for event in heard] == sorted(event.done for event in heard)
    assert heard[-1] == spewy.Advanced(150, 150)
    assert len(heard) == 3


def test_a_tiny_weight_is_left_out_as_in_a_single_solve():
    tiny = weights(OOP) * np.where(np.arange(1326) % 3 == 0, 1e-12, 1.0)
    spread = np.where(weights(IP) > 0, np.linspace(0.1, 7, 1326), 0.0)
    rivers = spewy.solve_rivers(Job.of(JOB), BOARDS[:1], tiny, spread)
    assert np.isnan(rivers.ev[0, 0, ::3]).all()
    scaled = spewy.solve_rivers(Job.of(JOB), BOARDS[:1], np.where(tiny > 1e-9, tiny, 0), spread / 7)
    np.testing.assert_allclose(rivers.ev, scaled.ev, rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boards": ["Qs 7h 2d 3c"]}, "board 0: expected five different cards"),
        ({"boards": ["Qs 7h 2d 3c 3c"]}, "board 0"),
        ({"boards": ["nothing"]}, "board 0"),
        ({"boards": np.array([[0, 1, 2, 3, 52]])}, "board 0: expected five different cards"),
        ({"oop": np.ones(7)}, "oop: expected weights of shape"),
        ({"ip": np.full(1326, -1.0)}, "ip: expected finite weights of at least 0"),
        ({"ip": np.full(1326, np.nan)}, "ip: expected finite weights of at least 0"),
        ({"ip": np.zeros(1326)}, "board Qs7h2d3c9s: .*share a card"),
        ({"boards": BOARDS * 100, "ip": np.zeros(1326), "workers": 2}, "board .*share a card"),
        ({"pots": [100]}, "pots: expected 3 numbers"),
        ({"pots": [100, 0, 100]}, "pots: expected numbers of at least 0.001 chips"),
        ({"stacks": [100, 1e-4, 100]}, "stacks: expected numbers of at least 0.001 chips"),
        ({"stacks": [100, np.nan, 100]}, "stacks: expected numbers"),
        ({"pots": [100, 2e6 + 0.5, 100]}, "expected at most 1,000,000 chips, found 2,000,000.5"),
        ({"stacks": ["deep", 1, 2]}, "stacks: expected a number of chips for each river"),
        ({"workers": 0}, "workers: expected a number of at least 1"),
        (
            {"job": JOB | {"spot": JOB["spot"] | {"board": "Qs 7h 2d 3c"}, "bets": BETS}},
            "expected a spot with a board of five",
        ),
        ({"job": JOB | {"rows": {"river": 10}}}, "expected a row for each hand"),
        ({"job": JOB | {"lock": ["x: bet"]}}, "expected a job without locks"),
    ],
)
def test_bad_input(changes, message):
    given = {"job": JOB, "boards": BOARDS, "oop": weights(OOP), "ip": weights(IP)} | changes
    with pytest.raises(InputError, match=message):
        spewy.solve_rivers(Job.of(given.pop("job")), **given)
