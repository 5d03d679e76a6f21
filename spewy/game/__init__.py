"""The game: rules, betting, bet sizes, betting trees and ranges."""

from spewy.game.betting import Betting
from spewy.game.gamefile import Game, format_game, load_game, parse_game
from spewy.game.ranges import Range, format_range, parse_range
from spewy.game.sizes import Size, parse_sizes
from spewy.game.tree import BettingTree, Node, build_tree
from spewy.game.treeconfig import Rake, TreeConfig, game_config, spot_config
from spewy.game.treetext import tree_json, tree_text

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
    "tree_json",
    "tree_text",
]
