"""A poker bot in a match of the HIGC: rebuild the hand, and answer with OpenSpiel's actions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from spewy.bot.bot import Bot
from spewy.bot.tally import tally_of
from spewy.competitions.higc.follow import Follower
from spewy.competitions.higc.spiel_poker import PokerTable
from spewy.competitions.higc.text import State
from spewy.errors import InputError
from spewy.match.table import hand_seed


class PokerAgent:
    """Plays one seat of a poker game; implements `spewy.competitions.higc.session.Agent`.

    If a state cannot follow from the previous state, the agent checks or calls from then on; in Kuhn poker it passes.

    Args:
        table: the poker game to play.
        bot: the bot that plays; the agent's `close` closes it.
        seat: number of the bot's player.
        seed: seed of the bot's random choices in all matches.
        note: called by `close` with the number of decisions from each source, such as the stored strategy or a
            re-solve, and with the bot's failures.
    """

    def __init__(
        self, table: PokerTable, bot: Bot, seat: int, seed: int, note: Callable[[str], None]
    ) -> None:
        self._table, self._bot, self._seat, self._note = table, bot, seat, note
        self._seeds = (hand_seed(seed, number) for number in count())
        self.new_match()

    def new_match(self) -> None:
        """Begin a match."""
        self._follower: Follower | None = Follower(self._table, self._seat)

    def see(self, state: State) -> None:
        """Update the hand by the state that the referee shows.

        Raises:
            InputError: the state cannot follow from the previous state.
        """
        if self._follower is None:
            return
        follower, self._follower = self._follower, None
        before = follower.hand
        follower.see(self._table.read(state))
        if before is None and follower.hand is not None:
            self._bot.new_hand(follower.hand, self._seat, next(self._seeds))
        self._follower = follower

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action.

        Raises:
            InputError: the hand is unknown or it is not this player's turn, and neither a check, a call nor a fold is
                legal.
        """
        hand = None if self._follower is None else self._follower.hand
        if hand is None or hand.to_act != self._seat:
            # Check or call; fold if neither is legal. In Kuhn poker, pass.
            for number in (0,) if self._table.actions == "kuhn" else (1, 0):
                if number in legal:
                    return number
            raise InputError("hand: it is not this player's turn")
        return self._table.number(self._bot.act(hand), hand.betting, legal)

    def close(self) -> None:
        """Close the bot; report its failures, and how many decisions came from each source, such as a re-solve."""
        self._bot.close()
        tally = tally_of(self._bot).take()
        if tally.sources:
            self._note(f"decisions of {self._table.game.name}: {tally.sources_text}")
        if tally.failures:
            self._note(f"WARNING: failed: {tally.failures_text}")
