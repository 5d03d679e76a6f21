import pytest

from buckets.cards import Deck, card_name, cards_name, parse_card, parse_cards
from buckets.errors import CardError


def test_every_card_survives_a_round_trip():
    names = [card_name(card) for card in range(52)]
    assert len(set(names)) == 52
    assert [parse_card(name) for name in names] == list(range(52))
    assert parse_cards(cards_name(range(52))) == tuple(range(52))
    assert parse_cards("2c 2d 2h 2s 3c As") == (0, 1, 2, 3, 4, 51)
    assert parse_cards("") == ()


APART = ("Qs Jh 2h", "QsJh2h", "  Qs\tJh2h ", "Qs,Jh,2h", "Qs, Jh, 2h", "Qs Jh | 2h", "Qs-Jh-2h")
SPELT = ("Qs/Jh;2h", "[Qs Jh] [2h]", "qs jh 2h", "QS JH 2H", "Q♠ J♥ 2♥", "Q♠️J♥️2♥️", "\ufeffQs Jh 2h")


@pytest.mark.parametrize("text", APART + SPELT)
def test_cards_may_stand_apart_or_together(text):
    assert parse_cards(text) == (43, 38, 2)


@pytest.mark.parametrize("text", ["qs", "Q♠", "Qs,Jh"])
def test_protocols_have_one_spelling(text):
    assert parse_cards("Qs Jh2h", strict=True) == (43, 38, 2)
    with pytest.raises(CardError, match="expected a rank"):
        parse_cards(text, strict=True)


@pytest.mark.parametrize(("text", "ten"), [("10s", True), ("Qs 10h", True), ("100", False), ("Qs1h", False)])
def test_a_ten_is_named_where_one_stands(text, ten):
    with pytest.raises(CardError) as error:
        parse_cards(text)
    assert ("a ten is T" in str(error.value)) == ten


@pytest.mark.parametrize(
    ("text", "token", "position"),
    [
        ("Qs Xh", "Xh", 3),
        ("QsJ", "J", 2),
        ("Qs,,Jh", ",J", 3),
        ("Qs_Jh", "_J", 2),
        ("10s", "10", 0),
        ("Q s", "Q ", 0),
        ("QsJhQs", "Qs", 4),
    ],
)
def test_a_bad_token_is_named_with_its_position(text, token, position):
    with pytest.raises(CardError, match=f"'{token}' at position {position}.*expected"):
        parse_cards(text)


@pytest.mark.parametrize("card", [-1, 52])
def test_a_card_that_is_none_has_no_name(card):
    with pytest.raises(CardError, match=f"expected an int from 0 to 51, got {card}"):
        card_name(card)


@pytest.mark.parametrize("text", ["", "A", "AsKs"])
def test_one_card_is_expected(text):
    with pytest.raises(CardError, match="expected"):
        parse_card(text)


@pytest.mark.parametrize(
    ("deck", "names"),
    [(Deck(3, 1), "QsKsAs"), (Deck(3, 2), "QhQsKhKsAhAs"), (Deck(1, 3), "AdAhAs")],
)
def test_small_decks_keep_the_highest_ranks_and_last_suits(deck, names):
    assert cards_name(deck.cards) == names
    assert len(deck) == len(deck.cards)


def test_the_default_deck_is_the_whole_pack():
    assert Deck().cards == tuple(range(52))
    assert Deck() == Deck(13, 4)
    assert hash(Deck()) == hash(Deck(13, 4))


@pytest.mark.parametrize("shape", [(0, 4), (14, 4), (13, 0), (13, 5)])
def test_impossible_decks_are_refused(shape):
    with pytest.raises(CardError, match=r"deck (ranks|suits): expected 1 to \d+, got"):
        Deck(*shape)
