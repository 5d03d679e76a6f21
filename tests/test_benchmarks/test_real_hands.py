"""The study of real hands sees what differs from the room's own numbers."""

from benchmarks.studies.real_hands import faults, hands_of, is_read_by_pokerkit, read

HAND = """\
PokerStars Hand #77:  Hold'em No Limit ($0.50/$1.00 USD) - 2026/01/02 3:04:05 ET
Table 'T' 2-max Seat #1 is the button
Seat 1: Ann ($100 in chips)
Seat 2: Bob ($90.50 in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Ann [Ah Kd]
Ann: raises $1.50 to $2.50
Bob: calls $1.50
*** FLOP *** [7c 4d 2s]
Bob: checks
Ann: bets $2.50
Bob: folds
Uncalled bet ($2.50) returned to Ann
Ann collected $4.75 from pot
*** SUMMARY ***
Total pot $5 | Rake $0.25
"""


def test_a_file_is_cut_into_hands():
    assert list(hands_of(f"{HAND}\n\n{HAND}")) == [HAND, HAND]


def test_what_differs_is_found():
    hand = read(HAND)
    assert list(faults(hand, HAND)) == []
    assert list(faults(hand, HAND.replace("Total pot $5", "Total pot $6"))) == ["pot 5, 6 in the summary"]
    other = HAND.replace("Ann collected", "Bob collected")
    assert [fault.partition(" ")[0] for fault in faults(hand, other)] == ["Bob", "Ann"]


def test_pokerkit_reads_plain_hands_of_both_rooms_only():
    assert is_read_by_pokerkit(HAND)
    assert is_read_by_pokerkit(HAND.replace("PokerStars Hand #", "Poker Hand #RC"))
    assert not is_read_by_pokerkit(HAND.replace("Ann: raises", "Ann: hebt"))
