"""The bet-size language and the amounts it gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spewy.errors import InputError
from spewy.game.sizes import Size, Stake, Thresholds, bet_amounts, format_sizes, parse_sizes, round_half_up


def test_tokens():
    assert parse_sizes(" 60% ,2.5x, 3xc, 100c,e,3e, e200%, A, a300%", raises=True) == (
        Size("pot", 60.0),
        Size("times", 2.5),
        Size("steps", 3.0),
        Size("chips", 100.0),
        Size("geometric"),
        Size("geometric", rounds=3),
        Size("geometric", 200.0),
        Size("allin"),
        Size("allin", 300.0),
    )
    assert parse_sizes("") == parse_sizes("  ") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("60%, 5y", "bets.flop.bet, position 5: expected a size such as 60%, 100c, e or a, found '5y'"),
        ("60%,", "position 4: expected a size such as"),
        ("2.5x", "position 0: expected a bet size (x is for raises only), found '2.5x'"),
        ("3xc", "position 0: expected a bet size (x is for raises only), found '3xc'"),
        ("a0%", "expected a limit above 0%"),
        ("a300", "found 'a300'"),
        ("0%", "position 0: expected a share of the pot above 0%, found '0%'"),
        ("-5%", "found '-5%'"),
        ("1.5c", "expected a whole number of chips above 0, found '1.5c'"),
        ("0e", "expected at least 1 round before e, found '0e'"),
        ("e0%", "expected a cap above 0%"),
        ("60", "found '60'"),
        ("a a", "found 'a a'"),
    ],
)
def test_bad_tokens(text, message):
    with pytest.raises(InputError) as error:
        parse_sizes(text, key="bets.flop.bet")
    assert message in str(error.value)


def test_a_raise_is_more_than_once_the_bet():
    with pytest.raises(InputError, match="expected a factor above 1x, found '1x'"):
        parse_sizes("1x", raises=True)


positive = st.floats(1e-9, 1e20)
sizes = st.one_of(
    st.builds(Size, st.just("pot"), positive, st.just(0)),
    st.builds(Size, st.just("times"), st.floats(1.01, 1e3), st.just(0)),
    st.builds(Size, st.just("chips"), st.integers(1, 10**6).map(float), st.just(0)),
    st.builds(Size, st.just("geometric"), st.just(0.0) | positive, st.integers(0, 5)),
    st.builds(Size, st.just("steps"), st.floats(1.01, 1e3), st.just(0)),
    st.builds(Size, st.just("allin"), st.just(0.0) | positive, st.just(0)),
)


@given(st.lists(sizes).map(tuple))
def test_sizes_round_trip(given_sizes):
    assert parse_sizes(format_sizes(given_sizes), raises=True) == given_sizes


def amounts(text, thresholds=Thresholds(), **changes):
    """Sizes of a raise: 100 in the pot after a call, a bet of 20 faced, 500 the most."""
    chips = {"pot": 100, "faced": 20, "low": 40, "high": 500, "rounds_left": 2, "bets_before": 1} | changes
    return bet_amounts(parse_sizes(text, raises=True), Stake(**chips), thresholds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50%", [70]),
        ("2.5x", [50]),
        ("3xc", [60]),  # two steps of 20
        ("2xc", [40]),  # the smallest raise
        ("30c", [50]),
        ("a", [500]),
        ("a480%", [500]),
        ("a479%", []),
        ("50%, a479%", [70]),
        ("10%", [40]),  # clamped up to the smallest raise
        ("900%", [500]),
        ("2.5x, 30c, 50%", [50, 70]),
        ("e", [20 + 113]),  # (sqrt(2 * 4.8 + 1) - 1) / 2 = 1.12788
        ("e100%", [120]),
        ("1e", [500]),
        ("1" + "0" * 300 + "%, 100000000000000000000x", [500]),
    ],
)
def test_amounts(text, expected):
    assert amounts(text) == expected


def test_geometric_ends_all_in():
    pot, behind = 200, 900
    for left in (3, 2, 1):
        stake = Stake(pot, 0, 1, behind, left, 0)
        (bet,) = bet_amounts(parse_sizes("e"), stake, Thresholds())
        pot, behind = pot + 2 * bet, behind - bet
    assert behind == 0


def test_geometric_raises_count_one_round_less_per_earlier_raise():
    assert amounts("e", bets_before=1) == amounts("2e", bets_before=1)
    assert amounts("e", bets_before=2) == [500]
    assert amounts("3e", bets_before=2) == amounts("2e", bets_before=1)
    assert amounts("e", bets_before=9) == [500]


def test_all_in_is_added_up_to_the_threshold():
    assert amounts("50%", Thresholds(add_allin=4.8)) == [70, 500]
    assert amounts("50%", Thresholds(add_allin=4.79)) == [70]
    assert amounts("", Thresholds(add_allin=4.8)) == [500]


def test_all_in_is_forced_when_little_stays_behind():
    # A raise to 320 makes a pot of 700; 180 behind is 25.7 % of it.
    assert amounts("300%", Thresholds(force_allin=0.25)) == [320]
    assert amounts("300%", Thresholds(force_allin=0.26)) == [500]


def test_all_in_is_forced_from_a_share_of_the_stack():
    # 100 chips before the round and 500 in it are the stack; 70 % of it are 420, a raise to 320 in this round.
    assert amounts("300%", Thresholds(allin_from=0.7), before=100) == [320]
    assert amounts("300%, 301%", Thresholds(allin_from=0.7), before=100) == [320, 500]
    assert amounts("50%", Thresholds(allin_from=0.0), before=100) == [500]
    assert amounts("50%, a", Thresholds(allin_from=1.0), before=100) == [70, 500]


def test_close_sizes_are_merged_into_the_larger():
    assert amounts("50%, 55%, 60%, 100%", Thresholds(merge=0.1)) == [80, 120]
    assert amounts("50%, 55%, 60%, 100%") == [70, 75, 80, 120]


@given(st.floats(0, 1e9))
def test_rounding_is_to_the_nearest(value):
    assert abs(round_half_up(value) - value) <= 0.5


def test_halves_round_up():
    assert [round_half_up(x) for x in (0.5, 1.5, 2.5, 2.4)] == [1, 2, 3, 2]
