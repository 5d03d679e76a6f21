"""Compare the decisions of one hand with a stored strategy.

The cost of a decision is the EV of the strategy's own action frequencies there, less the EV of the action that was
played. For both EVs the opponent has the range with which the strategy comes to the decision. In a spot
(`decided_in_spot`) both players follow the strategy to the end of the hand. In a whole game (`review_hand`), where the
EVs of later rounds are not stored, they follow the strategy to the end of the round, and nobody bets in later rounds,
so that only equity counts there. A cost may be negative; the mean cost of a player who follows the strategy is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buckets.cards import blocked, hands
from solvers.tree import Floats
from spewy.bot.bot import Mix, Reveals
from spewy.game.hand import Hand, HoleCards
from spewy.match.odds import shares
from spewy.match.spots import Spot
from spewy.match.table import acted, by_action, decisions


@dataclass(frozen=True)
class Decided:
    """A decision that was played, compared with the stored strategy.

    Attributes:
        line: ACPC betting string before the decision.
        board: public cards, in `Game.board_order`.
        actions: the strategy's actions.
        frequencies: frequency of each action in the strategy of the player's cards; None if the cards are unknown.
        values: EV of each of `actions` in chips, None if it is unknown: in a whole game the mean chips won in the hand,
            in a spot the EV from the decision on, which ``spewy show`` prints.
        cost: EV of the strategy's own frequencies less EV of the played action, in chips; None if the cards are
            unknown.
        opponent_range: weight of each hand of the deck in the opponent's range at the decision, without hands that
            share a card with the player's; None if the player's cards are unknown.
    """

    player: int
    line: str
    board: tuple[int, ...]
    action: str
    actions: tuple[str, ...]
    frequencies: tuple[float, ...] | None
    values: tuple[float, ...] | None
    cost: float | None
    opponent_range: Floats | None = field(default=None, repr=False, compare=False)

    @property
    def loss(self) -> float | None:
        """Value in chips of the best action less the value of the played action; None for unknown cards."""
        if self.values is None or self.frequencies is None or self.cost is None:
            return None
        return max(self.values) - float(np.dot(self.frequencies, self.values)) + self.cost

    @property
    def frequency(self) -> float | None:
        if self.frequencies is None:
            return None
        return dict(zip(self.actions, self.frequencies, strict=True)).get(self.action, 0.0)


@dataclass(frozen=True)
class Judged:
    """The comparison of one player's decisions in a finished hand with a strategy; amounts are chips.

    Attributes:
        opponent_range: weight of each hand of the deck in the opponent's range at the end of the hand, without hands
            that share a card with the board or with the player's hand.
        without_luck: estimate of the chips that the player won without luck; None if there is no estimate.
        expected: chips that the strategy itself wins on average from the player's seat; None if this is unknown.
    """

    decisions: tuple[Decided, ...]
    opponent_range: Floats
    without_luck: float | None = None
    expected: float | None = None


def decided_in_spot(spot: Spot, public: Hand, action: str, player: int, own: HoleCards) -> Decided:
    """Compare one decision in a solved spot with the strategy, by the exact EVs of the solve.

    Args:
        public: a hand of the spot's game before the decision, without hole cards.
        action: the action of the spot's tree that was played.
        own: the player's cards; None: unknown.
    """
    line, board = public.betting.line, spot.in_order(public.board)
    if own is None:
        actions = tuple(each.acpc for each in spot.node(public).actions)
        return Decided(player, line, board, action, actions, None, None, None)
    found = spot.hand_values(public, own)
    actions = tuple(each.acpc for each in found.actions)
    is_known = bool(np.isfinite(found.ev) and np.isfinite(found.action_ev).all())
    return Decided(
        player,
        line,
        board,
        action,
        actions,
        tuple(found.frequencies.tolist()),
        tuple(found.action_ev.tolist()) if is_known else None,
        float(found.ev - found.action_ev[actions.index(action)]) if is_known else None,
    )


def review_player(strategy: Reveals, hand: Hand, player: int, seed: int = 0) -> Judged:
    """Review one player's decisions in a finished hand, and follow the opponent's range to the end of the hand.

    Args:
        seed: seed of the random final boards for equities before the flop, and of the strategy's random choices.
    """
    reviewed = _Hand(strategy, hand, seed)
    decided = tuple(reviewed.decisions((player,)))
    dead = blocked(reviewed.deck, [*(hand.hole[player] or ()), *hand.board])
    return Judged(decided, np.where(dead, 0.0, reviewed.ranges[1 - player]))


def review_hand(
    strategy: Reveals, hand: Hand, players: Sequence[int] = (0, 1), seed: int = 0
) -> Iterator[Decided]:
    """Review the decisions of some players in a finished hand, one decision after another."""
    yield from _Hand(strategy, hand, seed).decisions(players)


class _Hand:
    """The review of a hand; ``ranges`` are both players', ``[hand of the deck]``, after the decisions read so far."""

    def __init__(self, strategy: Reveals, hand: Hand, seed: int) -> None:
        self.strategy, self.hand, self.seed = strategy, hand, seed
        self.deck = hands(hand.game.deck, hand.game.num_hole_cards)
        self.mixes: dict[str, Mix] = {}
        self.ranges: list[Floats] = [np.ones(len(self.deck)), np.ones(len(self.deck))]

    def decisions(self, players: Sequence[int]) -> Iterator[Decided]:
        player = 0 if self.hand.hole[0] is not None else 1
        start = Hand.start(self.hand.game, self.hand.hole).seen_by(player)
        self.strategy.new_hand(start, player, self.seed)
        ranges = self.ranges
        for public, action in decisions(self.hand):
            player_to_act = public.to_act
            assert player_to_act is not None
            if player_to_act in players:
                yield self.decided(public, action, player_to_act, ranges[1 - player_to_act])
            ranges[player_to_act] = ranges[player_to_act] * self.frequencies(public).get(action, 0.0)

    def decided(self, public: Hand, action: str, player: int, other: Floats) -> Decided:
        """Compare one decision with the strategy; ``other`` is the opponent's range, ``[hand of the deck]``."""
        mix, own = self.mix(public), self.hand.hole[player]
        line, board = public.betting.line, public.game.board_order(public.board)
        if own is None:
            return Decided(player, line, board, action, mix.actions, None, None, None)
        number = self.hand.game.hand_number(own)
        possible = ~blocked(self.deck, [*own, *board])
        # If the strategy never plays as the opponent did, the opponent may hold any hand.
        weights = possible * (other if (possible * other).any() else np.ones(len(self.deck)))
        pair = _Pairs(self, player, own, public.board)
        taken, *values = (
            float(weights @ pair.after(public, each) / weights.sum()) for each in (action, *mix.actions)
        )
        frequencies = mix.of(number)
        return Decided(
            player,
            line,
            board,
            action,
            mix.actions,
            tuple(frequencies.tolist()),
            tuple(values),
            float(frequencies @ np.array(values)) - taken,
            weights,
        )

    def mix(self, public: Hand) -> Mix:
        key = f"{public.betting.line} {public.board}"
        if key not in self.mixes:
            self.mixes[key] = self.strategy.strategy(public)
        return self.mixes[key]

    def frequencies(self, public: Hand) -> Mapping[str, Floats]:
        return by_action(self.mix(public), len(self.deck))


class _Pairs:
    """Chips that one hand of a player wins against each other hand, if nobody bets after the current round."""

    def __init__(self, reviewed: _Hand, player: int, own: Sequence[int], board: tuple[int, ...]) -> None:
        self.reviewed, self.player = reviewed, player
        game = reviewed.hand.game
        self.number = game.hand_number(own)
        self.margin: Floats = np.nan_to_num(2 * shares(game, own, board, reviewed.seed) - 1)

    def after(self, public: Hand, action: str) -> Floats:
        """Return the chips that an action wins in the whole hand, ``[opponent's hand of the deck]``."""
        betting = acted(public.betting, action)
        if betting.folded is not None:
            lost = betting.spent[betting.folded]
            return np.full(
                len(self.margin), -lost if betting.folded == self.player else lost, dtype=np.float64
            )
        if betting.round > public.betting.round or betting.to_act is None:
            return betting.stake * self.margin
        return self.of(replace(public, betting=betting))

    def of(self, public: Hand) -> Floats:
        """Mean chips that the reviewed player wins in the whole hand, ``[opponent's hand of the deck]``.

        From the decision at ``public``, both players follow the strategy to the end of the round; nobody bets later.
        """
        is_own = public.to_act == self.player
        out = np.zeros(len(self.margin))
        for action, frequencies in self.reviewed.frequencies(public).items():
            share = np.full_like(out, frequencies[self.number]) if is_own else frequencies
            if share.any():
                out += share * self.after(public, action)
        return out
