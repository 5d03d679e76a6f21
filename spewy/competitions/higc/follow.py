"""Rebuild a poker hand from the tensors of its states; differences between states reveal the actions.

The first states deal the hole cards. Each further state follows from the previous state by one action or one card. A
larger board reveals a card, more chips of a player reveal a call or raise, and a state that differs in nothing reveals
a check. A fold ends the match, so no state shows it.
"""

from __future__ import annotations

from spewy.competitions.higc.spiel_poker import PokerTable, Public
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.hand import Hand


class Follower:
    """Rebuilds the hand from the successive states of a match.

    Args:
        table: the poker game that is played.
        seat: number of the player to whom the states are shown.
    """

    def __init__(self, table: PokerTable, seat: int) -> None:
        self._game, self._seat = table.game, seat
        self._hand: Hand | None = None
        self._undealt = 2 * table.game.num_hole_cards
        self._dealt: tuple[int, ...] = ()
        self._last: Public | None = None

    @property
    def hand(self) -> Hand | None:
        """The hand so far; None before both players have their cards."""
        return self._hand

    def see(self, public: Public) -> None:
        """Update the hand by the next state of the match.

        Args:
            public: the cards and chips that the state shows.

        Raises:
            InputError: the state cannot follow from the previous state.
        """
        if self._undealt:
            self._undealt -= 1
            return
        if self._hand is None or self._last is None:
            self._hand = self._started(public)
        else:
            self._hand = self._next(self._hand, self._last, public)
        self._last = public

    def _started(self, public: Public) -> Hand:
        if public.spent != Betting.start(self._game).spent or public.board:
            raise InputError(
                f"tensor: expected blinds {self._game.blinds} and no board, found {public.spent} and {public.board}"
            )
        return Hand.start(self._game, (public.hole, None) if self._seat == 0 else (None, public.hole))

    def _next(self, hand: Hand, last: Public, public: Public) -> Hand:
        new = tuple(card for card in public.board if card not in last.board)
        moved = [player for player in (0, 1) if public.spent[player] != last.spent[player]]
        if public.hole != last.hole or len(public.board) != len(last.board) + len(new) or len(moved) > 1:
            raise _lost("one card or one player's chips more", last, public)
        if new:
            if moved or not hand.to_deal:
                raise _lost("no public card", last, public)
            return self._with_cards(hand, new)
        return hand.apply(self._action(hand, last, public, moved))

    def _with_cards(self, hand: Hand, new: tuple[int, ...]) -> Hand:
        """Collect public cards one by one, and deal them to the hand when the round's cards are complete."""
        self._dealt += new
        if len(self._dealt) < hand.to_deal:
            return hand
        dealt, self._dealt = self._dealt, ()
        return hand.deal(dealt)

    def _action(self, hand: Hand, last: Public, public: Public, moved: list[int]) -> str:
        player = hand.to_act
        if player is None or moved not in ([], [player]):
            raise _lost(f"chips of player {player} or nothing to change", last, public)
        total, most = public.spent[player], max(last.spent)
        if total <= most:
            if total != hand.betting.called().spent[player]:
                raise _lost("a call", last, public)
            return "c"
        return "r" if self._game.limit else f"r{total}"


def _lost(expected: str, last: Public, public: Public) -> InputError:
    return InputError(f"tensor after {last}: expected {expected}, found {public}")
