"""The whole strategy of a bot in a small game, as others judge it."""

from types import SimpleNamespace

from open_spiel.python.algorithms.exploitability import exploitability
from spiel import tabular_policy

from buckets.cards import hand_name, hands
from spewy.game.betting import parse_line
from spewy.game.hand import Hand


def exploitability_of_bot(bot, name):
    """OpenSpiel's exploitability, in chips, of what a bot says that it plays at every public state."""
    deck = hands(bot.game.deck, 1)

    def node(place):
        hand = Hand(parse_line(bot.game, place.line), board=place.cards)
        mix = bot.strategy(hand)
        return SimpleNamespace(
            player=hand.to_act,
            hands=[hand_name(deck[number]) for number in mix.hands],
            strategy=mix.frequencies,
        )

    return exploitability(*tabular_policy(SimpleNamespace(node=node), name))
