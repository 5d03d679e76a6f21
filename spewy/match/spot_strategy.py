"""The stored strategy of a spot, applied to hands of a whole game that reach the spot.

A hand reaches a spot if, at the start of the spot's round, hand and spot have equal boards and an equal ratio of the
smaller remaining stack to the pot; chips are scaled from the hand to the spot. The strategy covers the hand as long as
each bet is in the spot's tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from buckets.cards import cards_name
from solvers.tree import Floats
from spewy.bot.bot import Mix
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.game.nodes import Line
from spewy.match.table import decisions
from spewy.records.policy import Policy
from spewy.system.closing import Closing


class NotInSpotError(InputError):
    """A hand does not reach a spot, or leaves the spot's betting tree."""


class SpotStrategy(Closing):
    """The strategies of one or more solved spots, applied to the hands of a whole game.

    Args:
        policies: stored strategies of spots of the same game; `close` closes them.
    """

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = policies
        self._policy = policies[0]
        self._root, self._scale = 0, Fraction(1)

    @property
    def game(self) -> Game:
        """The game of the spots."""
        return self._policy.problem.game

    def enter(self, hand: Hand) -> tuple[int, tuple[Floats, Floats]]:
        """Choose the spot that a hand reaches; `strategy` then gives the strategies of this spot.

        Returns:
            The number of the hand's decisions before the spot, and both ranges at the spot's root.

        Raises:
            NotInSpotError: the hand reaches none of the spots.
        """
        reason = NotInSpotError("no spot")
        for policy in self._policies:
            try:
                before = self._enter(policy, hand)
            except NotInSpotError as error:
                reason = error
            else:
                return before, policy.problem.ranges
        raise reason

    def strategy(self, hand: Hand) -> Mix:
        """Return the action frequencies of the hands in the range of the player to act.

        Raises:
            NotInSpotError: the betting has left the spot's tree.
            InputError: no strategy is stored for the decision.
        """
        line = self._line(hand.betting)
        decision = self._policy.decision(line, hand.board)
        actions = tuple(self._of_hand(action.acpc) for action in decision.actions)
        return Mix(actions, decision.hands, decision.frequencies)

    def close(self) -> None:
        """Close the stored strategies."""
        for policy in self._policies:
            policy.close()

    def _enter(self, policy: Policy, hand: Hand) -> int:
        """Choose the spot of a stored strategy; return the number of the hand's decisions before the spot.

        Raises:
            NotInSpotError: the hand does not reach the spot.
        """
        problem, game = policy.problem, hand.game
        config, t = problem.tree.config, problem.first_round
        name = game.round_names[t]
        before = sum(len(actions) for actions in hand.betting.rounds[:t])
        states = list(decisions(hand))
        if before >= len(states) or states[before][0].betting.round != t:
            raise NotInSpotError(f"the hand has no decision on the {name}")
        begun = 0
        for group in problem.history:
            dealt = hand.board[begun : begun + len(group)]
            if set(dealt) != set(group):
                raise NotInSpotError(f"the board is {cards_name(hand.board[: game.board_sizes[t]])}")
            begun += len(group)
        betting = states[before][0].betting
        pot, behind = sum(betting.spent), min(betting.stack(0), betting.stack(1)) - max(betting.spent)
        if config.stack is not None and pot * config.stack != behind * config.pot:
            raise NotInSpotError(
                f"pot {pot} and stack {behind} on the {name} are not in the ratio of {config.pot} and {config.stack}"
            )
        self._policy, self._root, self._scale = policy, betting.spent[0], Fraction(config.pot, pot)
        return before

    def _line(self, betting: Betting) -> Line:
        """Translate a hand's betting to the line of the spot's tree."""
        line = ""
        for number, actions in enumerate(betting.rounds[self._policy.problem.first_round :]):
            line += "/" if number else ""
            for action in actions:
                node = self._policy.node(Line(line))
                of_tree = {self._of_hand(each.acpc): each.acpc for each in node.actions}
                if action not in of_tree:
                    raise NotInSpotError(
                        f"{action} after {line or 'the root'} is not in the spot's tree ({', '.join(of_tree)})"
                    )
                line += of_tree[action]
        return Line(line)

    def _of_hand(self, acpc: str) -> str:
        """Convert the amount of an ACPC action from the spot's chips to the hand's chips."""
        return f"r{self._root + round(int(acpc[1:]) / self._scale)}" if acpc[1:] else acpc
