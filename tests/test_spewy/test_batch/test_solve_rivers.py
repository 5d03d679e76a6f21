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


def test_ranges_by_river_numbers_for_cards_and_processes_change_nothing(rivers):
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
    found = spewy.solve_rivers(raked, BOARDS[:1], weights(OOP), weights(IP))
    ev = spewy.solve(raked).node("").ev
    assert np.nanmax(found.ev[0, 0]) == pytest.approx(ev.max(), abs=1e-3)


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
