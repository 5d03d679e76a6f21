"""Ranges as text and as weights."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jobs import EXAMPLES

from buckets.cards import Deck, hand_index, parse_cards
from spewy.errors import InputError
from spewy.game.ranges import Range, format_range, parse_range
from spewy.game.ranges.range import NUM_HANDS, combo_name

SPOTS = EXAMPLES.parent / "tests" / "data" / "spots"
FORMATS = EXAMPLES.parent / "docs/reference/job-file.md"


def weight(hand_range, name):
    return hand_range.weights[hand_index(Deck(), parse_cards(name))]


@pytest.mark.parametrize(
    ("text", "combos"),
    [
        ("AA", 6),
        ("AKs", 4),
        ("AKo", 12),
        ("AK", 16),
        ("KA", 16),
        ("QQ+", 18),
        ("22+", 78),
        ("TT-66", 30),
        ("66-TT", 30),
        ("A2s+", 48),
        ("KTo+", 36),
        ("AT+", 64),
        ("A5s-A2s", 16),
        ("K9o-K7o", 36),
        ("JTs-65s", 24),
        ("J9s-64s", 24),
        ("T9-87", 48),
        ("75s+", 8),
        ("KhQh", 1),
        ("random", 1326),
        ("any two", 1326),
        ("AA:0.5, KK:.25 ,QQ:1", 3 + 1.5 + 6),
        ("AK, AKs:0.5", 14),
        ("AA,AsAh:0", 5),
        (" AA ,\n KK ", 12),
        ("AA:0.5,AhKh", 4),
        ("aa,aks,a5s+,ahkh,AHKD,AKS", 6 + 4 + 32 + 1),
        ("[50]AA[/50]", 3),
        ("[50]AA,KK[/50],QQ", 12),
        ("[12.5]AKs[/12.5], [100] KK [/100]", 6.5),
        ("12.5%", 165.75),
        ("Top 12.5 %:0.5, 72o:0", 82.875),
        ("100%", 1326),
        ("AA\nKK,\n\nQQ # and JJ\n# TT", 18),
        ("AA,", 6),
        ("22+, A2s+, KTs+,", 138),
        ("22+; A2s+; KTs+", 138),
        ("22+ A2s+\tKTs+", 138),
        ("AA,[25%]AKs[/25%],[25%]AQs[/25%]", 8),
        ("[50]AA[/50][25]KK[/25]", 4.5),
        ("[50] AA KK,[/ 50 %]QQ", 12),
        ("A5s–A2s", 16),
        ("A5s − A2s QQ", 22),
        ("A♠K♠", 1),
        ("A♠️K♠️,A♡K♡", 2),
        ("\ufeffAK", 16),
        ("AA:1.0000001", 6),
        ("AA:1.0005, KK:0.5", 9),
        ("AKs:50%", 2),
        ("AKs : 12.5 %, QQ:1", 6.5),
        ("AKs:50,QQ:100", 8),
        ("AKs:50,QQ,JJ:0", 8),
        ("AA:1,55", 12),
        ("top 50% AKs, 50%\nAA", 663),
        ("AA:0, 55", 6),
        ("22,33,44,55", 24),
    ],
)
def test_combos(text, combos):
    assert parse_range(text).combos == combos


def test_later_groups_override():
    hand_range = parse_range("74s:0.45,75s+:0.75,random:0.1,AKs")
    assert weight(hand_range, "7s5s") == 0.1
    assert weight(hand_range, "AhKh") == 1
    assert weight(hand_range, "AhKd") == 0.1


def documented():
    rows = FORMATS.read_text().split("| text | the same |\n|---|---|\n")[1].split("\n\n")[0]
    return [tuple(cell.strip(" `") for cell in row.strip("|").split("|")) for row in rows.splitlines()]


@pytest.mark.parametrize(("text", "same"), documented())
def test_documented_ranges_are_the_same(text, same):
    assert parse_range(text) == parse_range(same)


def test_hand_numbers_and_names():
    names = [combo_name(hand) for hand in range(NUM_HANDS)]
    assert len(set(names)) == NUM_HANDS
    assert (names[0], names[-1]) == ("2d2c", "AsAh")
    for hand, name in enumerate(names):
        assert hand_index(Deck(), parse_cards(name)) == hand


@pytest.mark.parametrize(("spot", "oop", "ip"), [("R1", 498, 590), ("T1", 202, 298), ("F1", 202, 298)])
def test_spots_count_their_combos(spot, oop, ip):
    data = json.loads((SPOTS / f"{spot}.json").read_text())
    assert (data["oop_combos_before_board"], data["ip_combos_before_board"]) == (oop, ip)
    assert parse_range(data["oop_range"]).combos == oop
    assert parse_range(data["ip_range"]).combos == ip


def test_dead_combos_are_dropped_and_reported():
    hand_range = parse_range("AA,KhQh", dead=parse_cards("AsKh"))
    assert hand_range.combos == 3
    assert sorted(hand_range.dropped) == ["AsAc", "AsAd", "AsAh", "KhQh"]
    assert parse_range("AA:0.5").dropped == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "range: expected at least one group of hands, found nothing"),
        (" , ", "range: expected at least one group of hands, found nothing"),
        ("AA,,KK", "position 3: expected a group such as"),
        (",AA", "or random; found ','"),
        ("AAKK", "found 'AAKK'"),
        ("Ah Kh", "found 'Ah Kh'"),
        ("AKs 50%", "expected a comma beside a share of all hands, or a weight after a colon"),
        ("50 % AKs", "found '50 % AKs'"),
        ("[" + "0" * 5000 + "]AA", "] after [000"),
        ("[" + " " * 100_000 + "AA", "expected a group"),
        ("AKs:" + "0" * 5000 + ",5", "expected a point in the weight, AKs:000"),
        ("A10s", "(a ten is T, not 10); found 'A10s'"),
        ("10h9h", "(a ten is T, not 10); found '10h9h'"),
        ("109s", "(a ten is T, not 10); found '109s'"),
        ("[10]AX", "expected a group such as QQ+, AKs"),
        ("AA:10x", "expected a number from 0 to 1, or a percentage, found '10x'"),
        ("AA:0.5,KK:50", "expected weights from 0 to 1, or all in percent, found 50 and 0.5; write 50% if"),
        ("AKs:0,5", "expected a point in the weight, AKs:0.5, found 'AKs:0,5'; leave a blank after a comma"),
        ("AKs:0,55", "expected a point in the weight, AKs:0.55, found 'AKs:0,55'"),
        ("AKs:1,00,QQ", "expected a point in the weight, AKs:1.00, found 'AKs:1,00'"),
        ("AA, KX", "range, position 4: expected a group such as QQ+, AKs, A5s-A2s:0.5, KhQh, 12.5%, [50]AA"),
        ("AA,QQs", "position 3: expected a pair without s or o; found 'QQs'"),
        ("AhAh", "position 0: expected two different cards; found 'AhAh'"),
        ("AKs-QJo", "expected both ends suited, both offsuit or both without s and o"),
        ("AKs-Q9s", "expected both ends pairs, or with the same high card, or with the same gap"),
        ("99-A9", "expected both ends pairs"),
        ("AA:100.5", "weight of 'AA': expected a number from 0 to 1, or a percentage, found '100.5'"),
        ("AA:101%", "position 0, weight of 'AA': expected a weight from 0 to 100 percent, found '101%'"),
        ("KK,AA:-0.5", "position 3, weight of 'AA': expected a number from 0 to 1, or a percentage, found"),
        ("AA:nan", "found 'nan'"),
        ("AA:", "weight of 'AA': expected a number from 0 to 1, or a percentage, found ''"),
        ("[50]AA", "range, position 0: expected [/50] after [50], found none"),
        ("KK,[50]AA[/40]", "range, position 9: expected [/50], found '[/40]'"),
        ("AA[/50]", "range, position 2: expected no [/ without a [ before it, found '[/50]'"),
        ("[50]AA,[20]KK[/20]", "range, position 7: expected [/50] before another [, found '[20]'"),
        ("[50]AA:0.3[/50]", "range, position 4: expected one weight, found 'AA:0.3' within [50]"),
        ("[150]AA[/150]", "range, position 0: expected a weight from 0 to 100 percent in [ ], found '150'"),
        ("[x]AA[/x]", "expected a weight from 0 to 100 percent in [ ], found 'x'"),
        ("0%", "range, position 0: expected a share of all hands above 0% and up to 100%; found '0%'"),
        ("AA,101%", "range, position 3: expected a share of all hands above 0% and up to 100%"),
        ("AA\n KK, KX", "range, line 2, position 5: expected a group such as"),
        ("AA:0", "expected a hand with a weight above 0, found none"),
        ("0.5 " * 1325, "expected 1326 numbers, found 1325"),
        ("0.5," * 1325 + "nan", "range, number 1325: expected a number from 0 to 1, or a percentage"),
        ("order = gto " + "1 " * NUM_HANDS, "expected order = pio or order = spewy, found order = gto"),
        ("order = pio AA", "expected 1326 numbers, found 1"),
        ("0 " * NUM_HANDS, "expected a hand with a weight above 0"),
    ],
)
def test_bad_ranges(text, message):
    with pytest.raises(InputError) as error:
        parse_range(text)
    assert message in str(error.value)


def test_a_range_of_dead_hands_only():
    with pytest.raises(InputError, match="the board blocks every hand of it"):
        parse_range("AsAh", dead=parse_cards("As"))


def test_number_form():
    weights = np.linspace(0, 1, NUM_HANDS)
    for separator in (" ", ",", ", ", "\n"):
        numbers = separator.join(map(repr, weights.tolist()))
        assert parse_range(f"order = spewy{separator}{numbers}") == Range(weights)


def pio_names():
    """The hands in PioSOLVER's order: a loop over the higher card, and over the lower cards within."""
    cards = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    return [cards[high] + cards[low] for high in range(52) for low in range(high)]


def listed(names, weights):
    return " ".join(str(weights.get(name, weights.get(name[2:] + name[:2], 0))) for name in names)


ACES = dict.fromkeys(("AsAh", "AsAd", "AsAc", "AhAd", "AhAc", "AdAc"), 1)


@pytest.mark.parametrize(
    "head", ["order = pio\n", "Order: PIO, ", "set_range OOP ", "# Pio's\nset_range IP\n"]
)
def test_lists_in_the_order_of_pio(head):
    names = pio_names()
    assert names[:4] == ["2d2c", "2h2c", "2h2d", "2s2c"]
    odd = {"KhQh": 0.25, "2s2c": 1, "7d3c": 0.5}
    assert parse_range(head + listed(names, ACES)) == parse_range("AA")
    assert parse_range(head + listed(names, odd)) == parse_range("KhQh:0.25,2s2c,7d3c:0.5")


def test_lists_in_an_unknown_order_are_refused():
    ours = [combo_name(hand) for hand in range(NUM_HANDS)]
    one = {"KhQh": 1}
    for names, weights, hint in (
        (
            pio_names(),
            ACES,
            "; in order = pio the range treats all suits alike, in order = spewy it does not",
        ),
        (ours, ACES, "; in order = spewy the range treats all suits alike, in order = pio it does not"),
        (ours, one, "found none"),
    ):
        with pytest.raises(InputError, match=r"the order of the 1,326 numbers .* order = pio") as error:
            parse_range(listed(names, weights))
        assert str(error.value).endswith(hint)
    assert parse_range("0.5 " * NUM_HANDS) == parse_range("random:0.5")
    assert parse_range(listed(ours, {"AsAh": 1})) == parse_range("AsAh")  # the last hand in both orders


def test_percentages_are_told():
    assert parse_range("AA:50,KK").notes == ("weights above 1 are read as percentages",)
    numbers = "order = spewy " + " ".join(["100", "0", "50"] * 442)
    assert parse_range(numbers).notes == ("weights above 1 are read as percentages",)
    assert parse_range(numbers).combos == 663
    assert parse_range("AA:50%,KK:0.5").notes == ()
    assert set(parse_range("AA:50%,KK:20").weights) == {0, 0.2, 0.5}


def test_lines_are_counted_only_for_errors(monkeypatch):
    """Otherwise the time grows with the square of the number of lines."""
    lines = ["AhKh:0.5, [50]QQ[/50]"] * 1000
    with pytest.raises(InputError, match="range, line 1001, position 4"):
        parse_range("\n".join([*lines, "AA, XX"]))
    monkeypatch.setattr("spewy.game.ranges.text._subject", None)
    assert parse_range("\n".join(lines)).combos == 3.5


def test_ranges_are_read_only_values():
    weights = np.ones(NUM_HANDS)
    hand_range = Range(weights)
    weights[0] = 0
    assert hand_range == Range.uniform()
    assert hash(hand_range) == hash(Range.uniform())
    with pytest.raises(ValueError, match="read-only"):
        hand_range.weights[0] = 0


def test_what_is_no_text_is_refused():
    with pytest.raises(InputError, match="range: expected a text such as 'QQ\\+,AKs', found 5"):
        parse_range(5)


def test_wrong_weights_are_refused():
    with pytest.raises(InputError, match=r"expected 1326 weights, found an array of shape \(3,\)"):
        Range(np.ones(3))
    bad = np.ones(NUM_HANDS)
    bad[-1] = np.nan
    with pytest.raises(InputError, match="weight of AsAh: expected 0 to 1, found nan"):
        Range(bad)


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("random", "random"),
        ("22+:0.5", "22+:0.5"),
        ("AK", "AKs,AKo"),
        ("A2s+,A2o+", "A2s+,A2o+"),
        ("KK,JJ-TT,99:0.5,AsAh", "KK,JJ-TT,99:0.5,AsAh"),
    ],
)
def test_compact_text(text, compact):
    assert format_range(parse_range(text)) == compact


@pytest.mark.parametrize("spot", ["R1", "T1", "P1"])
def test_spot_ranges_round_trip(spot):
    data = json.loads((SPOTS / f"{spot}.json").read_text())
    for key in ("oop_range", "ip_range"):
        hand_range = parse_range(data[key])
        text = format_range(hand_range)
        assert parse_range(text) == hand_range
        assert len(text) < 2 * len(data[key])


@given(
    st.dictionaries(st.integers(0, NUM_HANDS - 1), st.floats(0, 1), max_size=40),
    st.sampled_from([0.0, 0.25, 1.0]),
)
def test_any_range_round_trips(changes, base):
    weights = np.full(NUM_HANDS, base)
    for hand, value in changes.items():
        weights[hand] = value
    if weights.any():
        assert parse_range(format_range(Range(weights))) == Range(weights)


ranks = "23456789TJQKA"
classes = st.tuples(st.sampled_from(ranks), st.sampled_from(ranks), st.sampled_from(["", "s", "o"])).map(
    lambda c: c[0] + c[1] + ("" if c[0] == c[1] else c[2])
)
groups = st.tuples(classes, st.sampled_from(["", "+"]), st.sampled_from(["", ":0.5", ":0.125"])).map("".join)


@given(st.lists(groups, min_size=1, max_size=12).map(",".join))
def test_text_round_trips(text):
    hand_range = parse_range(text)
    assert parse_range(format_range(hand_range)) == hand_range
