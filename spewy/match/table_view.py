"""Describe the table as a person sees it: seats, stacks, bets of the round, the pot, cards, and betting by street.

`TableView.of` reads a hand in play, so the page of whole hands and the trainer show the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from buckets.cards import cards_name
from spewy.game.amounts import Unit
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.game.nodes import Action, ActionKind, sized_words
from spewy.match.table import decisions

__all__ = ["Street", "TableView", "put_in_before", "round_action"]


@dataclass(frozen=True)
class Street:
    """A round of a hand: the public cards that it deals, and what was done in words, such as "you check"."""

    name: str
    cards: str
    actions: tuple[str, ...]


@dataclass(frozen=True)
class TableView:
    """A table as one person sees it. Amounts are in the unit named by ``unit``, and pairs are by player.

    Attributes:
        person: player number of the person.
        button: player who acts last in the last round.
        hole: cards of each player, the highest first; None if the person does not see them.
        board: public cards.
        pot: chips in the middle, with all bets.
        bets: chips that each player has put in during this round.
        stacks: chips that each player has left; None if stacks are not limited.
        to_call: chips that a call costs the player to act; 0 if nobody acts.
        odds: `to_call` as a share of the pot after the call: the equity that a call needs if nobody bets again.
        streets: the rounds so far.
    """

    person: int
    button: int
    hole: tuple[str | None, str | None]
    board: str
    pot: float
    bets: tuple[float, float]
    stacks: tuple[float, float] | None
    to_call: float
    odds: float | None
    streets: tuple[Street, ...]
    unit: str

    @classmethod
    def of(
        cls,
        hand: Hand,
        person: int,
        unit: Unit,
        *,
        middle: int,
        round_names: Sequence[str],
        in_order: Callable[[tuple[int, ...]], tuple[int, ...]],
    ) -> TableView:
        """Return the table of a hand, which is as ``person`` sees it.

        Args:
            middle: chips in the pot at the start of the hand, besides those that players put in.
            round_names: names of the rounds of the hand's game.
            in_order: sorts public cards as board names do.
        """
        betting = hand.betting
        spent, before = betting.spent, put_in_before(betting)
        pot, player = middle + sum(spent), betting.to_act
        due = 0 if player is None else min(max(spent), betting.stack(player)) - spent[player]
        stacks = [betting.stack(p) - spent[p] for p in (0, 1)]
        return cls(
            person,
            1 - hand.game.first_player[-1],
            (_cards(hand.hole[0]), _cards(hand.hole[1])),
            cards_name(in_order(hand.board)),
            unit.number(pot),
            (unit.number(spent[0] - before), unit.number(spent[1] - before)),
            None if hand.game.stacks is None else (unit.number(stacks[0]), unit.number(stacks[1])),
            unit.number(due),
            due / (pot + due) if due else None,
            tuple(_streets(hand, person, unit, middle, round_names, in_order(hand.board))),
            unit.name,
        )

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "streets": [vars(street) for street in self.streets]}


def put_in_before(betting: Betting) -> int:
    """Return the chips that each player had put in before the current round: antes count, blinds do not."""
    game = betting.game
    if betting.round == 0:
        return game.blinds[0] if game.has_antes else 0
    state = Betting.start(game, betting.min_bet)
    for action in (action for actions in betting.rounds[:-1] for action in actions):
        state = state.given_up() if action == "f" else state.apply(action)
    return min(state.spent)


def round_action(state: Betting, action: str, unit: Unit, middle: int) -> Action:
    """Return an ACPC action at a state of the betting with its amount in the round and its size, as in a tree.

    Args:
        middle: chips in the pot at the start of the hand, besides those that players put in.
    """
    faces_bet = state.can_fold or (state.round == 0 and not state.game.has_antes and max(state.spent) > 0)
    if action[0] != "r":
        kind: ActionKind = "fold" if action == "f" else "call" if state.can_fold else "check"
        return Action(kind, 0, action, unit)
    assert state.to_act is not None
    before, total = put_in_before(state), max(state.apply(action).spent)
    amount = total - before
    if not state.game.limit and total >= min(state.stack(0), state.stack(1)):
        return Action("allin", amount, action, unit)
    if faces_bet:
        return Action("raise", amount, action, unit)
    share = None if state.game.limit else amount / (middle + sum(state.spent))
    return Action("bet", amount, action, unit, share)


def _streets(
    hand: Hand, person: int, unit: Unit, middle: int, names: Sequence[str], board: tuple[int, ...]
) -> list[Street]:
    done: list[list[str]] = [[] for _ in names]
    for state, action in decisions(hand):
        words = sized_words(round_action(state.betting, action, unit, middle).label)
        done[state.betting.round].append(_said(state.to_act == person, words))
    streets, sizes = [], (0, *hand.game.board_sizes)
    for name, actions, (low, high) in zip(names, done, pairwise(sizes), strict=True):
        if actions or name == names[hand.betting.round] or low < high <= len(board):
            streets.append(Street(name, cards_name(board[low:high]), tuple(actions)))
    return streets


def _said(own: bool, words: str) -> str:
    words = words.replace("all-in", "go all-in")
    verb, _, rest = words.partition(" ")
    if own:
        return f"you {words}"
    return f"opponent {'goes' if verb == 'go' else f'{verb}s'} {rest}".rstrip()


def _cards(cards: tuple[int, ...] | None) -> str | None:
    return None if cards is None else cards_name(sorted(cards, reverse=True))
