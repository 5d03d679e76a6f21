"""A poker bot at a referee's table of the HIGC: it follows the states and answers with OpenSpiel's actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spewy.bot.bot import Bot
from spewy.bot.tally import tally_of
from spewy.competitions.higc.follow import Follower
from spewy.competitions.higc.spiel_poker import PokerTable
from spewy.competitions.higc.text import State
from spewy.errors import InputError


class PokerBrain:
    """Plays one seat of a poker game; a `spewy.competitions.higc.session.Brain`.

    Where a state cannot follow from the last one, the rest of the hand is checked and called, in Kuhn's game passed.

    Args:
        table: the game.
        bot: the bot that plays; `close` closes it.
        seat: number of the bot's player.
        seeds: seeds of the bot's random choices, match by match.
        note: called by `close` with the number of the bot's decisions by source, and with its failures.
    """

    def __init__(
        self, table: PokerTable, bot: Bot, seat: int, seeds: Iterator[int], note: Callable[[str], None]
    ) -> None:
        self._table, self._bot, self._seat, self._seeds, self._note = table, bot, seat, seeds, note
        self.new_match()

    def new_match(self) -> None:
        """A match begins."""
        self._follower: Follower | None = Follower(self._table, self._seat)

    def see(self, state: State) -> None:
        """The next state.

        Raises:
            InputError: it cannot follow.
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
        """A legal action.

        Raises:
            InputError: the hand is not known, or it is not this player's turn.
        """
        hand = None if self._follower is None else self._follower.hand
        if hand is None or hand.to_act != self._seat:
            for number in self._passive:
                if number in legal:
                    return number
            raise InputError("hand: expected this player's turn, found another")
        return self._table.number(self._bot.act(hand), hand.betting, legal)

    def close(self) -> None:
        """Close the bot, and report its decisions by source and its failures."""
        self._bot.close()
        tally = tally_of(self._bot).take()
        if tally.sources:
            self._note(f"decisions of {self._table.game.name}: {tally.sources_text}")
        if tally.failures:
            self._note(f"WARNING: failed: {tally.failures_text}")

    @property
    def _passive(self) -> tuple[int, ...]:
        """Numbers of a check or a call, and what is done where none is legal."""
        return (0,) if self._table.actions == "kuhn" else (1, 0)
