"""The game: rules, betting, bet sizes, betting trees and ranges."""

from .betting import Betting
from .gamefile import Game, format_game, load_game, parse_game
from .ranges import Range, format_range, parse_range
from .sizes import Size, parse_sizes
from .tree import BettingTree, Node, build_tree, tree_text
from .treeconfig import Rake, TreeConfig, game_config, spot_config

__all__ = [
    "Betting",
    "BettingTree",
    "Game",
    "Node",
    "Rake",
    "Range",
    "Size",
    "TreeConfig",
    "build_tree",
    "format_game",
    "format_range",
    "game_config",
    "load_game",
    "parse_game",
    "parse_range",
    "parse_sizes",
    "spot_config",
    "tree_text",
]
