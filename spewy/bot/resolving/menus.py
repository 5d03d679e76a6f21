"""Menus: the bet sizes that a re-solve at the table considers, besides the bets that were really made.

The tree of a re-solve always has the bets that were really made, so a few other sizes are enough: in a given time, more
iterations help more than more sizes (`docs/research/re-solving.md`). If a menu takes too much memory or time, the bot
uses the next smaller menu. Each menu has a bet, since a bot that can only check and call plays worse than the stored
strategy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from spewy.game.treeconfig import PlayerSizes, TreeConfig, player_sizes

Menu = Literal["job", "lean", "all-in"]
"""Name of a menu.

- ``job``: the bet sizes of the job file with which the stored strategy was solved.
- ``lean``: bets of the pot and all-in; raises all-in.
- ``all-in``: bets and raises all-in.
"""
MENUS: tuple[Menu, ...] = ("job", "lean", "all-in")
"""All menus, the largest first."""
FORCE_ALLIN = 0.25
"""Value of `TreeConfig.force_allin` in the menus ``lean`` and ``all-in``."""
_SIZES: dict[Menu, PlayerSizes] = {
    "lean": player_sizes("100%, a", "a"),
    "all-in": player_sizes("a", "a"),
}


def with_menu(config: TreeConfig, menu: Menu) -> TreeConfig:
    """Return the configuration of a tree with the bet sizes of a menu; limit games always have the sizes of the game.

    Args:
        config: the configuration with the job's bet sizes.
        menu: the menu.
    """
    if menu == "job" or config.game.limit:
        return config
    sizes = (_SIZES[menu], _SIZES[menu])
    return replace(
        config, sizes=(sizes,) * len(config.sizes), add_allin=0.0, force_allin=FORCE_ALLIN, merge=0.0
    )


def menus_from(menu: Menu, config: TreeConfig) -> tuple[Menu, ...]:
    """List a menu and all smaller ones, the largest first; limit games have only ``job``."""
    return ("job",) if config.game.limit else MENUS[MENUS.index(menu) :]
