"""Convert average strategies to a policy of OpenSpiel, with a row for each information set.

Spewy's player 0 is OpenSpiel's player 0. OpenSpiel numbers cards in the order of Spewy's deck, and its histories have
all hole cards of player 0 before those of player 1. OpenSpiel's actions are 0 for a fold, 1 for a call and 2 for a
raise; in a no-limit game a raise is the total of chips put in. In Kuhn poker they are 0 for a pass and 1 for a bet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from math import comb
from typing import TYPE_CHECKING, Any

from buckets.cards import hand_name
from spewy.chunks.locate import Place
from spewy.errors import InputError, MissingError
from spewy.game.gamefile import Game, load_game
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree, build_tree

if TYPE_CHECKING:
    from spewy.look.node import NodeView

NAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
"""Names in OpenSpiel of two games that Spewy ships; OpenSpiel builds other games from rules, as ``universal_poker``."""
MOST_SETS = 100_000
"""Largest number of information sets, since OpenSpiel enumerates dozens of states for each of them."""


def spiel_policy(tree: BettingTree, look: Callable[[Place], NodeView]) -> Any:
    """Make an ``open_spiel.python.policy.TabularPolicy`` of a whole game.

    Args:
        tree: betting tree of the game, from the first deal on.
        look: returns the decision at a place.

    Raises:
        MissingError: OpenSpiel is not installed.
        InputError: OpenSpiel lacks the game or plays it by different rules, the game is too large for a table, or the
            betting tree lacks actions of the game.
    """
    game = tree.config.game
    require_spiel(f"game {game.name}")
    _require_same_showdown(game)
    _require_same_stacks(tree)
    _require_small(tree)
    from open_spiel.python.policy import TabularPolicy

    policy = TabularPolicy(spiel_game(game))
    seen: dict[Place, NodeView] = {}
    for state in policy.states:
        place, hand = _reached(tree, state.history())
        if place not in seen:
            seen[place] = look(place)
        node, decision = place.node, seen[place]
        column = decision.hands.index(hand[decision.player])
        numbers = _numbers(game, node)
        if sorted(numbers) != sorted(state.legal_actions()):
            raise InputError(
                f"line {node.line!r}: expected all {len(state.legal_actions())} actions of the game in the betting "
                f"tree, found {len(numbers)}"
            )
        row = policy.action_probability_array[policy.state_lookup[state.information_state_string()]]
        row[:] = 0
        row[numbers] = decision.strategy[:, column]
    return policy


def spiel_game(game: Game) -> Any:
    """Load a game in OpenSpiel, by its name in OpenSpiel or as ``universal_poker`` with its rules."""
    import pyspiel

    name = _own_name(game)
    try:
        return pyspiel.load_game(name) if name else pyspiel.load_game("universal_poker", _parameters(game))
    except (RuntimeError, ValueError) as error:  # OpenSpiel's errors are runtime errors
        raise InputError(f"game {game.name}: OpenSpiel does not accept it: {error}") from None


def require_spiel(subject: str) -> None:
    if find_spec("pyspiel") is None:
        raise MissingError(
            f"{subject}: needs the package open_spiel, which is not installed (pip install 'spewy[higc]')"
        )


@lru_cache
def _own_name(game: Game) -> str | None:
    """Name of a game in OpenSpiel; None if OpenSpiel must build it from its rules."""
    same = (theirs for name, theirs in NAMES.items() if game == replace(load_game(name), name=game.name))
    return next(same, None)


def _require_same_showdown(game: Game) -> None:
    """Refuse a game with three cards at the showdown, where OpenSpiel counts neither straights nor flushes."""
    if game.num_hole_cards + sum(game.num_board_cards) == 3:
        raise InputError(
            f"game {game.name}: OpenSpiel ranks three cards at the showdown by other rules; "
            f"the game has {game.num_hole_cards} in the hand and {sum(game.num_board_cards)} on the board"
        )


def _require_same_stacks(tree: BettingTree) -> None:
    """Refuse stacks with which OpenSpiel allows other bets than Spewy.

    In OpenSpiel, players of limit games can put in more than their stacks, and players with uneven stacks can bet more
    than the opponent can call.
    """
    game = tree.config.game
    if game.stacks is None:
        return
    if len(set(game.stacks)) > 1:
        raise InputError(
            f"game {game.name}: OpenSpiel needs even stacks, since its players can bet more than the opponent has; "
            f"found {' and '.join(map(str, game.stacks))}"
        )
    if game.limit and _lines(tree) != _lines(
        build_tree(replace(tree.config, game=replace(game, stacks=None)))
    ):
        raise InputError(
            f"game {game.name}: OpenSpiel needs stacks larger than all bets of a limit game, since its players can put "
            f"in more than their stacks; found stacks of {game.stacks[0]}"
        )


def _lines(tree: BettingTree) -> set[tuple[str, str, tuple[int, int]]]:
    return {(node.line, node.kind, node.put_in) for node in tree.nodes()}


def _require_small(tree: BettingTree) -> None:
    game = tree.config.game
    n_cards, n_sets = len(game.deck), 0
    for node in tree.nodes():
        if node.kind == "decision":
            deals, n_left = comb(n_cards, game.num_hole_cards), n_cards - game.num_hole_cards
            for n_dealt in game.num_board_cards[: node.round + 1]:
                deals, n_left = deals * comb(n_left, n_dealt), n_left - n_dealt
            n_sets += deals
    if n_sets > MOST_SETS:
        raise InputError(
            f"game {game.name}: expected at most {MOST_SETS:,} information sets for a table, found {n_sets:,}"
        )


def _parameters(game: Game) -> dict[str, str | int]:

    def listed(values: tuple[int, ...]) -> str:
        return " ".join(map(str, values))

    stacks = {} if game.stacks is None else {"stack": listed(game.stacks)}
    bets = {"raiseSize": listed(game.raise_sizes)} if game.limit else {"bettingAbstraction": "fullgame"}
    return {
        "betting": "limit" if game.limit else "nolimit",
        "numPlayers": 2,
        "numRounds": game.num_rounds,
        "blind": listed(game.blinds),
        "firstPlayer": listed(tuple(player + 1 for player in game.first_player)),
        "maxRaises": listed(game.max_raises),
        "numSuits": game.num_suits,
        "numRanks": game.num_ranks,
        "numHoleCards": game.num_hole_cards,
        "numBoardCards": listed(game.num_board_cards),
        **stacks,
        **bets,
    }


def _reached(tree: BettingTree, history: list[int]) -> tuple[Place, tuple[str, str]]:
    """Find the decision after OpenSpiel's ``history`` (numbers of cards and actions), and the names of both hands."""
    game = tree.config.game
    hole, cards = game.num_hole_cards, game.deck.cards
    first, second = (
        hand_name(sorted(cards[number] for number in history[p * hole : (p + 1) * hole])) for p in (0, 1)
    )
    node, waiting = tree.root, game.num_board_cards[0]
    board: list[int] = []
    for number in history[2 * hole :]:
        if waiting:
            board.append(cards[number])
            waiting -= 1
        else:
            node = node.children[_numbers(game, node).index(number)]
        if node.kind == "chance":
            node = node.children[0]
            waiting = game.num_board_cards[node.round]
    return Place(node, game.board_order(board)), (first, second)


def _numbers(game: Game, node: Node) -> list[int]:
    assert node.player is not None
    if _own_name(game) == "kuhn_poker":
        facing = any(action.kind == "fold" for action in node.actions)
        return [int(action.kind == "call" if facing else action.kind != "check") for action in node.actions]
    totals = [2 if game.limit else child.put_in[node.player] for child in node.children]
    plain = {"fold": 0, "check": 1, "call": 1}
    return [plain.get(action.kind, total) for action, total in zip(node.actions, totals, strict=True)]
