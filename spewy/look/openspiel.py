"""Average strategies as a policy of OpenSpiel, information set by information set.

Players, deals and amounts are the same on both sides: player 0 is OpenSpiel's, cards are numbered by rank and suit in
the order of the deck, and each player's hole cards are dealt before those of the next. Actions are fold 0, call 1 and
raise 2, or the total that is raised to where the game has no limit; in Kuhn they are pass 0 and bet 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from math import comb
from typing import TYPE_CHECKING, Any, Protocol

from buckets.cards import hand_name
from spewy.errors import InputError, MissingError
from spewy.game.gamefile import Game, load_game
from spewy.game.nodes import Node
from spewy.game.tree import BettingTree, build_tree

if TYPE_CHECKING:
    from solvers.tree import Floats

NAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
"""OpenSpiel's own names of shipped games."""
MOST_SETS = 100_000
"""Largest number of information sets; OpenSpiel enumerates some dozens of states for each."""


class Played(Protocol):
    """Fields of `spewy.NodeView` that this module reads."""

    @property
    def player(self) -> int:
        """Player to act."""

    @property
    def hands(self) -> tuple[str, ...]:
        """Names of the hands."""

    @property
    def strategy(self) -> Floats:
        """Frequencies ``[action, hand]``."""


Look = Callable[[str, tuple[int, ...]], Played]
"""Function that returns the decision after a line on a board."""


def spiel_policy(tree: BettingTree, look: Look) -> Any:
    """An ``open_spiel.python.policy.TabularPolicy`` of a whole game.

    Args:
        tree: its betting, from the deal.
        look: gives its decisions.

    Raises:
        MissingError: OpenSpiel is not installed.
        InputError: OpenSpiel has no such game, or other showdowns or stacks in it, or it is too large for a table, or
            the tree lacks some of its actions.
    """
    game = tree.config.game
    require_spiel(f"game {game.name}")
    _require_same_showdown(game)
    _require_same_stacks(tree)
    _require_small(tree)
    from open_spiel.python.policy import TabularPolicy

    policy = TabularPolicy(spiel_game(game))
    seen: dict[tuple[str, tuple[int, ...]], Played] = {}
    for state in policy.states:
        node, hand, board = _place(tree, state.history())
        if (node.line, board) not in seen:
            seen[node.line, board] = look(node.line, board)
        view = seen[node.line, board]
        column = view.hands.index(hand[view.player])
        numbers = _numbers(game, node)
        if sorted(numbers) != sorted(state.legal_actions()):
            raise InputError(
                f"line {node.line!r}: expected all {len(state.legal_actions())} actions of the game in the betting "
                f"tree, found {len(numbers)}"
            )
        row = policy.action_probability_array[policy.state_lookup[state.information_state_string()]]
        row[:] = 0
        row[numbers] = view.strategy[:, column]
    return policy


def spiel_game(game: Game) -> Any:
    """Load a game in OpenSpiel: under OpenSpiel's own name, or as universal_poker.

    Raises:
        InputError: OpenSpiel does not take it.
    """
    import pyspiel

    name = _own_name(game)
    try:
        return pyspiel.load_game(name) if name else pyspiel.load_game("universal_poker", _parameters(game))
    except (RuntimeError, ValueError) as error:  # OpenSpiel's errors are runtime errors
        raise InputError(f"game {game.name}: expected one that OpenSpiel has, found: {error}") from None


def require_spiel(subject: str) -> None:
    """Check that OpenSpiel is installed.

    Raises:
        MissingError: OpenSpiel is not installed.
    """
    if find_spec("pyspiel") is None:
        raise MissingError(
            f"{subject}: expected package open_spiel to be installed, found none (pip install 'spewy[higc]')"
        )


@lru_cache
def _own_name(game: Game) -> str | None:
    """OpenSpiel's own name of a shipped game; None if OpenSpiel has no such game."""
    same = (theirs for name, theirs in NAMES.items() if game == replace(load_game(name), name=game.name))
    return next(same, None)


def _require_same_showdown(game: Game) -> None:
    """Refuse showdowns of three cards, for which OpenSpiel has neither straights nor flushes."""
    if game.num_hole_cards + sum(game.num_board_cards) == 3:
        raise InputError(
            f"game {game.name}: expected other than three cards at the showdown for OpenSpiel, which ranks them by "
            f"other rules, found {game.num_hole_cards} in the hand and {sum(game.num_board_cards)} on the board"
        )


def _require_same_stacks(tree: BettingTree) -> None:
    """Refuse stacks with which OpenSpiel's betting differs.

    In limit games OpenSpiel's players can put in more than their stacks, and with uneven stacks they can bet more than
    the other player can call.
    """
    game = tree.config.game
    if game.stacks is None:
        return
    if len(set(game.stacks)) > 1:
        raise InputError(
            f"game {game.name}: expected even stacks for OpenSpiel, whose players can bet more than the other player "
            f"has, found {' and '.join(map(str, game.stacks))}"
        )
    if game.limit and _lines(tree) != _lines(
        build_tree(replace(tree.config, game=replace(game, stacks=None)))
    ):
        raise InputError(
            f"game {game.name}: expected stacks that the bets of a limit game cannot reach, since OpenSpiel's players "
            f"can put in more than their stacks, found stacks of {game.stacks[0]}"
        )


def _lines(tree: BettingTree) -> set[tuple[str, str, tuple[int, int]]]:
    """Line, kind and chips put in for every node of a betting tree."""
    return {(node.line, node.kind, node.put_in) for node in tree.nodes()}


def _require_small(tree: BettingTree) -> None:
    game = tree.config.game
    n_cards, n_sets = len(game.deck), 0
    for node in tree.nodes():
        if node.kind == "decision":
            deals, left = comb(n_cards, game.num_hole_cards), n_cards - game.num_hole_cards
            for dealt in game.num_board_cards[: node.round + 1]:
                deals, left = deals * comb(left, dealt), left - dealt
            n_sets += deals
    if n_sets > MOST_SETS:
        raise InputError(
            f"game {game.name}: expected at most {MOST_SETS:,} information sets for a table, found {n_sets:,}"
        )


def _parameters(game: Game) -> dict[str, str | int]:
    """Parameters of a game in OpenSpiel's universal_poker."""

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


def _place(tree: BettingTree, history: list[int]) -> tuple[Node, tuple[str, str], tuple[int, ...]]:
    """Decision, hands of both players and public cards of an OpenSpiel history."""
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
    return node, (first, second), tuple(board)


def _numbers(game: Game, node: Node) -> list[int]:
    """OpenSpiel's number of each action at a decision."""
    assert node.player is not None
    if _own_name(game) == "kuhn_poker":
        facing = any(action.kind == "fold" for action in node.actions)
        return [int(action.kind == "call" if facing else action.kind != "check") for action in node.actions]
    totals = [2 if game.limit else child.put_in[node.player] for child in node.children]
    plain = {"fold": 0, "check": 1, "call": 1}
    return [plain.get(action.kind, total) for action, total in zip(node.actions, totals, strict=True)]
