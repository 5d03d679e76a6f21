"""Configuration of a betting tree: the rules, the root, and the bets that the sizes of a player allow in each round.

The root is a spot (a pot in the middle, equal chips behind, no blinds) or the start of a whole game. Betting in a spot
has rules of its own (`TreeConfig.rules`): a game with the remaining rounds and without blinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeAlias

from spewy.errors import InputError
from spewy.game.amounts import CHIPS, Unit
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES
from spewy.game.sizes import RAISES_ONLY, Size, Stake, Thresholds, bet_amounts, parse_sizes

__all__ = [
    "PlayerSizes",
    "Rake",
    "RoundSizes",
    "Sizes",
    "TreeConfig",
    "game_config",
    "may_donk",
    "player_sizes",
    "raise_totals",
    "spot_config",
]


@dataclass(frozen=True)
class PlayerSizes:
    """One player's bet sizes in one round. The first bet of a round with blinds counts as a raise."""

    bet: tuple[Size, ...] = ()
    raises: tuple[Size, ...] = ()
    donk: tuple[Size, ...] | None = None
    """Bet sizes of a player who starts a round after calling the last bet of the round before; None: those in `bet`."""

    def sizes(self, faces_bet: bool, donk: bool) -> tuple[Size, ...]:
        if donk and self.donk is not None:
            return self.donk
        return self.raises if faces_bet else self.bet


RoundSizes: TypeAlias = tuple[PlayerSizes, PlayerSizes]
"""Bet sizes of player 0 (oop) and of player 1 (ip)."""
Sizes: TypeAlias = Mapping[int, RoundSizes]
"""Bet sizes by round of the game (0: before the flop); a missing round has the sizes of the round before it."""


@dataclass(frozen=True)
class Rake:
    """The rake: the share of every pot that the house takes, after a showdown or a fold."""

    rate: float = 0.0
    cap: float | None = None
    """Largest number of chips that the house takes from a pot; None: no limit."""

    def of(self, pot: float) -> float:
        """Return the chips that the house takes from a pot.

        >>> Rake(0.05, 3).of(40), Rake(0.05, 3).of(100)
        (2.0, 3)
        """
        chips = self.rate * pot
        return chips if self.cap is None else min(chips, self.cap)


@dataclass(frozen=True)
class TreeConfig:
    """Everything that determines a betting tree; `spot_config` and `game_config` make and check it."""

    game: Game
    start_round: int
    pot: int
    """Chips in the middle at the root of a spot; 0 for a whole game, where the blinds count as put in."""
    stack: int | None
    """Effective stack at the root of a spot; None: unlimited, or a whole game, with the game's stacks."""
    sizes: tuple[RoundSizes, ...]
    """Bet sizes of each round from `start_round` on; limit games do not use them."""
    add_allin: float = 0.0
    """An all-in is added if it exceeds the bet faced by at most this share of the pot after a call."""
    force_allin: float = 0.0
    """A bet becomes all-in if, after a call, at most this share of the pot would stay behind."""
    merge: float = 0.0
    """Two bet sizes that differ by less than about this share of the pot are merged into the larger one."""
    min_bet: int | None = None
    """Smallest no-limit bet; None: 1 in spots, the big blind in whole games."""
    rake: Rake = Rake()
    """The rake of a spot. It does not change the shape of the tree."""
    unit: Unit = CHIPS
    """The unit of amounts in labels and lines. It does not change the shape of the tree."""
    max_raises: int | None = None
    """Largest number of bets and raises in a round, beside the limit of the game's rules; None: no other limit."""
    lines: tuple[str, ...] = ()
    """ACPC betting strings; if there are any, the tree has their bets and raises only, and no sizes."""
    allin_from: float = 1.0
    """A bet becomes all-in if the player has then put in more than this share of the stack since the root."""
    short_allins: bool = True
    """Whether a player may raise all-in by less than the smallest raise."""
    check_down: bool = False
    """Whether rounds have no decisions if no sizes allow a bet in them or later (`is_checked_down`)."""

    def is_checked_down(self, r: int) -> bool:
        """Whether the tree leaves out the checks of round ``r`` of `rules` and of all later rounds."""
        return (
            self.check_down
            and not self.lines
            and not self.rules.limit
            and not any(sizes.bet or sizes.donk for players in self.sizes[r:] for sizes in players)
        )

    @cached_property
    def totals(self) -> Mapping[str, tuple[int, ...]]:
        """Totals of the bets and raises in `lines`, in ascending order, by the line before them."""
        found: dict[str, set[int]] = {}
        for line in self.lines:
            for bet in re.finditer(r"r(\d+)", line):
                found.setdefault(line[: bet.start()], set()).add(int(bet[1]))
        return {line: tuple(sorted(totals)) for line, totals in found.items()}

    @property
    def is_spot(self) -> bool:
        return self.pot > 0

    @cached_property
    def rules(self) -> Game:
        """The betting rules of the tree: for a spot, a game without blinds whose first round is `start_round`."""
        if not self.is_spot:
            return self.game
        first, game = self.start_round, self.game
        return replace(
            game,
            num_rounds=game.num_rounds - first,
            stacks=None if self.stack is None else (self.stack, self.stack),
            blinds=(0, 0),
            raise_sizes=game.raise_sizes[first:],
            first_player=game.first_player[first:],
            max_raises=game.max_raises[first:],
            num_board_cards=game.num_board_cards[first:],
        )

    @cached_property
    def thresholds(self) -> Thresholds:
        return Thresholds(self.add_allin, self.force_allin, self.merge, self.allin_from)

    @property
    def antes(self) -> int:
        """Chips of each player's ante; 0 if the game has blinds instead."""
        return self.rules.blinds[0] if self.rules.has_antes else 0

    def start(self) -> Betting:
        return Betting.start(self.rules, self.min_bet)


def spot_config(
    game: Game,
    start_round: int,
    pot: int,
    stack: int | None,
    sizes: Sizes | None = None,
    *,
    add_allin: float = 0.0,
    force_allin: float = 0.0,
    merge: float = 0.0,
    min_bet: int | None = None,
    rake: Rake | None = None,
    unit: Unit = CHIPS,
    max_raises: int | None = None,
    lines: Sequence[str] = (),
    allin_from: float = 1.0,
    short_allins: bool = True,
    check_down: bool = False,
) -> TreeConfig:
    """Configure the tree of a spot, and check all values; the arguments are the attributes of `TreeConfig`.

    A stack of None is unlimited, in limit games only.
    """
    if not 0 <= start_round < game.num_rounds:
        raise InputError(f"start round: expected 0 to {game.num_rounds - 1}, found {start_round}")
    if pot < 1:
        raise InputError(f"spot.pot: expected at least 1 chip, found {pot}")
    if stack is None and not game.limit:
        raise InputError("spot.stack: expected chips behind in a no-limit game, found none")
    if stack is not None and stack < 1:
        raise InputError(f"spot.stack: expected at least 1 chip, found {stack}")
    by_round = _no_sizes(game, start_round) if lines else _sizes_by_round(game, start_round, sizes or {})
    return _checked(
        TreeConfig(
            game,
            start_round,
            pot,
            stack,
            by_round,
            add_allin,
            force_allin,
            merge,
            min_bet,
            rake or Rake(),
            unit,
            max_raises,
            tuple(lines),
            allin_from,
            short_allins,
            check_down,
        )
    )


def game_config(
    game: Game,
    sizes: Sizes | None = None,
    *,
    add_allin: float = 0.0,
    force_allin: float = 0.0,
    merge: float = 0.0,
    min_bet: int | None = None,
    unit: Unit = CHIPS,
    max_raises: int | None = None,
    lines: Sequence[str] = (),
    allin_from: float = 1.0,
    short_allins: bool = True,
    check_down: bool = False,
) -> TreeConfig:
    """Configure the tree of a whole game, and check all values; the arguments are the attributes of `TreeConfig`."""
    if not game.limit and game.stacks is None:
        raise InputError(f"game {game.name!r}: expected stacks in a no-limit game, found none")
    if not game.limit and not any(game.blinds):
        raise InputError(f"game {game.name!r}: expected blinds or antes in a no-limit game, found none")
    if min_bet is not None and min_bet < game.big_blind:
        raise InputError(f"tree.min_bet: expected at least the big blind {game.big_blind}, found {min_bet}")
    if not lines and (sizes or game.limit or _leaves_bets(game)):
        by_round = _sizes_by_round(game, 0, sizes or {})
    else:
        by_round = _no_sizes(game, 0)
    thresholds = (add_allin, force_allin, merge, min_bet)
    config = TreeConfig(game, 0, 0, None, by_round, *thresholds, unit=unit, max_raises=max_raises)
    config = replace(config, lines=tuple(lines), allin_from=allin_from, short_allins=short_allins)
    return _checked(replace(config, check_down=check_down))


def _no_sizes(game: Game, start_round: int) -> tuple[RoundSizes, ...]:
    return ((PlayerSizes(), PlayerSizes()),) * (game.num_rounds - start_round)


def _leaves_bets(game: Game) -> bool:
    return game.stacks is None or min(game.stacks) > game.big_blind


def player_sizes(
    bet: str = "", raises: str = "", donk: str | None = None, key: str = "bets", unit: Unit = CHIPS
) -> PlayerSizes:
    """Read one player's bet sizes in a round from text; an error begins with ``key``.

    >>> player_sizes("60%, a", "2.5x").raises
    (Size(kind='times', value=2.5, rounds=0),)
    """
    return PlayerSizes(
        bet=parse_sizes(bet, key=f"{key}.bet", unit=unit),
        raises=parse_sizes(raises, raises=True, key=f"{key}.raise", unit=unit),
        donk=None if donk is None else parse_sizes(donk, key=f"{key}.donk", unit=unit),
    )


def _sizes_by_round(game: Game, start_round: int, sizes: Sizes) -> tuple[RoundSizes, ...]:
    for r in sizes:
        if not 0 <= r < game.num_rounds:
            raise InputError(f"bets: expected rounds 0 to {game.num_rounds - 1}, found {r}")
    if game.limit:
        if sizes:
            name = game.round_names[min(sizes)]
            raise InputError(
                f"bets.{name}: expected no sizes, because bets in the limit game {game.name!r} have fixed sizes"
            )
        return _no_sizes(game, start_round)
    filled: list[RoundSizes] = []
    for r in range(start_round, game.num_rounds):
        latest = max((number for number in sizes if number <= r), default=None)
        if latest is None:
            raise InputError(f"bets.{game.round_names[r]}: expected bet sizes, found none")
        filled.append(sizes[latest])
    for r, players in enumerate(filled, start=start_round):
        for name, player in zip(SEAT_NAMES, players, strict=True):
            for kind, row in (("bet", player.bet), ("donk", player.donk or ())):
                if any(size.kind in RAISES_ONLY for size in row):
                    key = f"bets.{game.round_names[r]}.{name}.{kind}"
                    raise InputError(
                        f"{key}: expected sizes without x, which is for raises only; found one with x"
                    )
    return tuple(filled)


def _checked(config: TreeConfig) -> TreeConfig:
    for key in ("add_allin", "force_allin", "merge"):
        value: float = getattr(config, key)
        if not 0 <= value < float("inf"):
            raise InputError(f"tree.{key}: expected a share of the pot, at least 0; found {value}")
    if not 0 <= config.allin_from <= 1:
        raise InputError(
            f"tree.allin_from: expected a share of the stack from 0 to 1, found {config.allin_from}"
        )
    rake = config.rake
    if not 0 <= rake.rate <= 1:
        raise InputError(f"spot.rake.rate: expected 0 to 1, found {rake.rate}")
    if rake.cap is not None and not 0 <= rake.cap < float("inf"):
        raise InputError(f"spot.rake.cap: expected chips, at least 0; found {rake.cap}")
    if config.min_bet is not None and config.min_bet < 1:
        raise InputError(f"tree.min_bet: expected at least 1 chip, found {config.min_bet}")
    if config.max_raises is not None and config.max_raises < 1:
        raise InputError(f"tree.max_raises: expected at least 1, found {config.max_raises}")
    if config.lines and config.rules.limit:
        raise InputError(
            f"tree.lines: expected none in the limit game {config.game.name!r}, found {config.lines[0]}"
        )
    return config


def raise_totals(config: TreeConfig, state: Betting, put_in_before: int, donk: bool) -> tuple[int, ...]:
    """List the bets and raises of the player to act, as totals in chips since the root; empty if none is legal.

    Args:
        state: the betting so far, under the rules of `config`.
        put_in_before: chips that each player had put in before this round.
        donk: whether the player starts a round after calling the last bet of the round before.
    """
    if state.to_act is None:
        return ()
    if config.lines:
        return config.totals.get(state.line, ())
    highest, bounds = max(state.spent), state.raise_bounds()
    return raises_within(
        config,
        state.round,
        state.to_act,
        highest,
        bounds,
        state.raise_by,
        state.num_raises,
        put_in_before,
        donk,
    )


def raises_within(
    config: TreeConfig,
    r: int,
    player: int,
    highest: int,
    bounds: tuple[int, int] | None,
    raise_by: int,
    num_raises: int,
    put_in_before: int,
    donk: bool,
) -> tuple[int, ...]:
    """List a player's bets and raises in round ``r`` of the tree, as totals in chips since the root.

    Args:
        highest: the larger number of chips that a player has put in since the root.
        bounds: smallest and largest legal total; None: no bet or raise is legal.
        raise_by: number of chips by which a raise must at least exceed the bet, unless it is all-in.
        num_raises: number of bets and raises in the round so far.
        put_in_before: chips that each player had put in before this round.
        donk: whether the player starts the round after calling the last bet of the round before.
    """
    if bounds is None:
        return ()
    low, high = bounds
    if config.rules.limit:
        return (low,)
    if config.max_raises is not None and num_raises >= config.max_raises:
        return ()
    if config.rules.stacks is not None:
        # Nobody can call more than the smaller stack, so no bet is larger, unless the rules ask for a larger raise.
        high = max(min(high, config.rules.stacks[1 - player]), low)
    if highest > put_in_before and not config.short_allins and high < highest + raise_by:
        return ()
    stake = Stake(
        config.pot + 2 * highest,
        highest - put_in_before,
        low - put_in_before,
        high - put_in_before,
        config.rules.num_rounds - r,
        num_raises,
        put_in_before,
    )
    sizes = config.sizes[r][player].sizes(stake.faced > 0, donk)
    return tuple([put_in_before + amount for amount in _amounts(sizes, stake, config.thresholds)])


@lru_cache(maxsize=8192)
def _amounts(sizes: tuple[Size, ...], stake: Stake, thresholds: Thresholds) -> tuple[int, ...]:
    return tuple(bet_amounts(sizes, stake, thresholds))


def may_donk(before: Betting, after: Betting) -> bool:
    """Whether the player who called the last bet of a round (state ``before``) starts the next round (``after``)."""
    called = before.to_act is not None and before.spent[before.to_act] < max(before.spent)
    return called and before.to_act == after.to_act
