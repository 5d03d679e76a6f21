"""The betting rules of the ACPC's dealer, as an immutable state of one hand.

Amounts are total chips that a player has put in over the whole hand, blinds included. Actions are written as in the
ACPC's protocol: ``"f"`` (fold), ``"c"`` (call or check), ``"r"`` (bet or raise) in limit games and ``"r<total>"`` in
no-limit games. A line is the ACPC's betting string: a ``/`` follows as soon as a round ends, except the last round;
after an all-in call, the remaining rounds are empty.
"""

import re
from dataclasses import dataclass, replace

from spewy.errors import InputError, shown
from spewy.game.gamefile import Game

__all__ = ["MAX_ACTIONS", "UNLIMITED", "Betting", "parse_line"]

MAX_ACTIONS = 64
"""Largest number of actions in a round, as in the ACPC's dealer; a raise must leave an action for the answer."""
UNLIMITED = 2**31 - 1
"""Stack of each player in a game whose stacks are not limited."""


@dataclass(frozen=True)
class Betting:
    """The betting of one hand so far; `apply` returns the state after one more action."""

    game: Game
    round: int
    spent: tuple[int, int]
    """Total chips put in over the whole hand."""
    rounds: tuple[tuple[str, ...], ...]
    """The actions of each round, up to the current round."""
    to_act: int | None
    """The player to act; None: the hand is over."""
    folded: int | None
    """The player who has folded; None: nobody has."""
    min_bet: int
    """Smallest bet in no-limit games, in chips."""
    raise_by: int
    """Number of chips by which a raise must at least exceed the bet: the largest bet or raise of this round so far, or
    `min_bet`."""

    @classmethod
    def start(cls, game: Game, min_bet: int | None = None) -> "Betting":
        """Return the state after the blinds; ``min_bet`` is the smallest no-limit bet (None: the big blind)."""
        spent = (game.blinds[0], game.blinds[1])
        first = game.first_player[0]
        smallest = game.big_blind if min_bet is None else max(1, min_bet)
        state = cls(game, 0, spent, ((),), first, None, smallest, smallest)
        if not state._is_all_in(first):
            return state
        if not state._is_all_in(1 - first):
            return replace(state, to_act=1 - first)
        return state._close_round()

    @property
    def is_over(self) -> bool:
        return self.to_act is None

    @property
    def line(self) -> str:
        """The betting so far, as an ACPC betting string."""
        return "/".join("".join(actions) for actions in self.rounds)

    @property
    def can_fold(self) -> bool:
        """Whether the player to act faces a bet."""
        player = self.to_act
        return player is not None and self.spent[player] < max(self.spent) and not self._is_all_in(player)

    @property
    def passive(self) -> str:
        """The action of a player who does not answer in time: a fold if the player faces a bet, otherwise a check."""
        return "f" if self.can_fold else "c"

    @property
    def num_raises(self) -> int:
        """Number of bets and raises in this round; blinds do not count."""
        return "".join(self.rounds[-1]).count("r")

    def stack(self, player: int) -> int:
        """Return a player's stack at the start of the hand."""
        return UNLIMITED if self.game.stacks is None else self.game.stacks[player]

    @property
    def stake(self) -> int:
        """Chips that the loser of the showdown pays if every bet is called and nobody bets again."""
        return min(max(self.spent), self.stack(0), self.stack(1))

    def raise_bounds(self) -> tuple[int, int] | None:
        """Return the smallest and the largest total of a legal bet or raise; None: neither is legal.

        >>> from spewy.game.gamefile import load_game
        >>> Betting.start(load_game("holdem.nolimit.2p.reverse_blinds")).raise_bounds()
        (200, 20000)
        """
        player = self.to_act
        if player is None:
            return None
        actions = len(self.rounds[-1])
        return raise_bounds(
            self.game, self.round, player, self.spent, self.raise_by, self.num_raises, actions
        )

    def apply(self, action: str) -> "Betting":
        player = self.to_act
        if player is None:
            raise InputError(f"action {shown(action)} after {self.line!r}: expected none, the hand is over")
        if action == "c":
            return self.called()
        if action == "f" and self.can_fold:
            return self.given_up()
        if _RAISE.fullmatch(action):
            return self._raise(action)
        raise InputError(f"action {shown(action)} after {self.line!r}: expected {self.legal_text()}")

    def legal_text(self) -> str:
        parts = ["f", "c"] if self.can_fold else ["c"] if self.to_act is not None else []
        bounds = self.raise_bounds()
        if bounds is not None:
            parts.append("r" if self.game.limit else f"r{bounds[0]} to r{bounds[1]}")
        return ", ".join(parts) or "no action"

    def _raise(self, action: str) -> "Betting":
        bounds = self.raise_bounds()
        legal = bounds is not None and (
            action == "r" if self.game.limit else action != "r" and bounds[0] <= int(action[1:]) <= bounds[1]
        )
        if bounds is None or not legal:
            raise InputError(f"action {shown(action)} after {self.line!r}: expected {self.legal_text()}")
        return self.raised(bounds[0] if self.game.limit else int(action[1:]))

    def raised(self, total: int) -> "Betting":
        """Return the state after a bet or raise to a total, which must be within `raise_bounds`."""
        player = self._mover()
        # An all-in of less than the smallest raise does not lower the smallest raise.
        by = max(self.raise_by, total - max(self.spent))
        rounds = self._with("r" if self.game.limit else f"r{total}")
        return self._after(self._paid(player, total), rounds, 1 - player, by)

    def given_up(self) -> "Betting":
        """Return the state after a fold, even without a bet; the ACPC's rules of 2007 and some logs allow this."""
        return replace(self, rounds=self._with("f"), to_act=None, folded=self._mover())

    def called(self) -> "Betting":
        """Return the state after a check or a call, which is legal at every decision."""
        player = self._mover()
        answered = len(self.rounds[-1]) > 0 or self._is_all_in(1 - player)
        total = min(max(self.spent), self.stack(player))
        state = self._after(self._paid(player, total), self._with("c"), 1 - player, self.raise_by)
        return state._close_round() if answered else state

    def _mover(self) -> int:
        if self.to_act is None:
            raise InputError(f"action after {self.line!r}: expected none, the hand is over")
        return self.to_act

    def _after(
        self,
        spent: tuple[int, int],
        rounds: tuple[tuple[str, ...], ...],
        to_act: int | None,
        raise_by: int,
    ) -> "Betting":
        """Return a copy of the state with the given chips, actions by round, player to act and smallest raise.

        Trees need millions of states, and `dataclasses.replace` would be four times slower.
        """
        return Betting(self.game, len(rounds) - 1, spent, rounds, to_act, self.folded, self.min_bet, raise_by)

    def _close_round(self) -> "Betting":
        last = self.game.num_rounds - 1
        if self._is_all_in(0) or self._is_all_in(1):
            return self._after(self.spent, self.rounds + ((),) * (last - self.round), None, self.raise_by)
        if self.round == last:
            return self._after(self.spent, self.rounds, None, self.raise_by)
        return self._after(
            self.spent, (*self.rounds, ()), self.game.first_player[self.round + 1], self.min_bet
        )

    def _is_all_in(self, player: int) -> bool:
        return self.spent[player] >= self.stack(player)

    def _paid(self, player: int, total: int) -> tuple[int, int]:
        return (total, self.spent[1]) if player == 0 else (self.spent[0], total)

    def _with(self, action: str) -> tuple[tuple[str, ...], ...]:
        return (*self.rounds[:-1], (*self.rounds[-1], action))


def raise_bounds(
    game: Game,
    r: int,
    player: int,
    spent: tuple[int, int],
    raise_by: int,
    num_raises: int,
    num_actions: int,
) -> tuple[int, int] | None:
    """Return the smallest and the largest total of a player's bet or raise; None: neither is legal.

    Args:
        spent: chips that each player has put in.
        raise_by: chips by which a raise must at least exceed the bet; limit games do not use it.
        num_actions: number of actions in round ``r`` so far, of which ``num_raises`` were bets and raises.
    """
    stack, opposing = (
        (UNLIMITED, UNLIMITED) if game.stacks is None else (game.stacks[player], game.stacks[1 - player])
    )
    highest = max(spent)
    if spent[1 - player] >= opposing or highest >= stack or num_raises >= game.max_raises[r]:
        return None
    if num_actions + game.num_players > MAX_ACTIONS:
        return None
    if game.limit:
        total = min(highest + game.raise_sizes[r], stack)
        return total, total
    return min(highest + raise_by, stack), stack


_RAISE = re.compile(r"r[0-9]{0,18}")
_TOKEN = re.compile(r"/|[fc]|r[0-9]*")


def parse_line(game: Game, line: str) -> Betting:
    """Return the state after an ACPC betting string, which begins at the start of the hand.

    Each round but the last must end with a ``/``; only a ``/`` at the end of the line may be missing.

    >>> from spewy.game.gamefile import load_game
    >>> parse_line(load_game("holdem.nolimit.2p.reverse_blinds"), "cc/r4351").raise_bounds()
    (8602, 20000)
    """
    state = Betting.start(game)
    pending = state.line.count("/")
    position = 0
    while position < len(line):
        subject = f"line {shown(line)}, position {position}"
        match = _TOKEN.match(line, position)
        if match is None:
            raise InputError(f"{subject}: expected f, c, r or /, found {line[position]!r}")
        token = match.group()
        if token == "/":
            if pending == 0:
                raise InputError(f"{subject}: expected {state.legal_text()}, found '/' inside a round")
            pending -= 1
        elif pending:
            raise InputError(f"{subject}: expected '/' after a round, found {shown(token)}")
        else:
            before = state.round
            try:
                state = state.apply(token)
            except InputError as error:
                raise InputError(f"{subject}: {error}") from error
            pending = state.round - before
        position = match.end()
    return state
