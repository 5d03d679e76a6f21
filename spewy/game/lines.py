"""Lines as people write them: ACPC betting strings, or actions in several spellings.

==========================  =================================================================================
``cr120c/``                 an ACPC betting string: ``r`` with the total put in since the root
``check, bet 120, call``    labels of actions, with the chips that the player has put in on this round
``x b120 c``                first letters of labels; ``x`` or ``k`` for a check, ``a`` for all-in
``raises to 250``           other forms of these words, also ``Bet(120)``
``b60%``                    a share of the pot after a call, as in bet sizes; a raise adds it to the bet faced
``bet``, ``raise``          the only bet or raise of the decision
==========================  =================================================================================

A bet (``b``) is the first bet of a round, and a raise answers a bet or a blind; ``r`` is the ACPC's letter for both.
Without an amount, these words mean all-in only if the decision has no other bet or raise.

Case does not matter. Blanks and commas may separate actions; the ``/`` at the end of a round is optional before another
action. A text that could mean two actions of a decision is an error. Amounts are in the tree's unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS
from spewy.game.betting import Betting
from spewy.game.nodes import (
    Action,
    ActionKind,
    Line,
    Node,
    choices,
    find_node,
    no_action_error,
    path_to,
    sized_words,
)
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import TreeConfig

__all__ = [
    "ACTION_WORDS",
    "faces_bet",
    "line_words",
    "read_action",
    "read_betting",
    "read_line",
    "sized_words",
    "wrong_word",
]


def read_line(tree: BettingTree, text: str) -> Line:
    """Read a line of a tree, and return it as an ACPC betting string.

    In a tree in chips, a text that is an ACPC betting string already is returned unchanged and without a check;
    `find_node` reports its errors.

    >>> from spewy.game.gamefile import load_game
    >>> from spewy.game.treeconfig import player_sizes, spot_config
    >>> sizes = player_sizes("60%", "2.5x")
    >>> config = spot_config(load_game("holdem.nolimit.2p.reverse_blinds"), 2, 200, 900, {2: (sizes, sizes)})
    >>> read_line(BettingTree(config), "x b60% c / check, bet 264")
    'cr120c/cr384'
    """
    if isinstance(text, Line):
        return text
    if not isinstance(text, str):
        raise InputError(f"line: expected a betting string such as 'cr120c/', found {shown(text)}")
    acpc = _ACPC_LIMIT if tree.config.rules.limit else _ACPC
    if tree.config.unit == CHIPS and acpc.fullmatch(text):
        return Line(text)
    return Line(_Walk(tree, text).line, text)


def read_action(config: TreeConfig, node: Node, text: str, subject: str) -> int:
    """Find the action that a text such as ``bet 120`` or ``b60%`` names; return its number at the decision."""
    match = _PIECE.fullmatch(text.strip())
    if match is None or match["slash"]:
        raise no_action_error(subject, node, text)
    return _Piece(match, config, subject).action(node)


def read_betting(config: TreeConfig, text: str, subject: str) -> str:
    """Read a line by the rules of betting alone, and return it as an ACPC betting string.

    Amounts are written as in lines of a tree, but shares of the pot are not allowed.
    """
    state, before, line = config.start(), config.antes, ""
    if config.unit == CHIPS and _ACPC.fullmatch(text):
        for action in re.findall(r"[fc]|r[0-9]+", text):
            state = _applied(state, action, subject)
        return state.line
    for start, match in _pieces(text):
        where = f"{subject}, position {start}"
        if isinstance(match, str):
            raise InputError(
                f"{where}: expected an action such as x, c, f, b120, r384 or a, found {shown(match)}"
            )
        if match["slash"]:
            if not line or state.rounds[-1] or state.is_over:
                raise InputError(f"{where}: expected an action, found '/' inside a round")
            continue
        action = _by_rules(config, state, before, match, where)
        after = _applied(state, action, where)
        if after.round != state.round:
            before = after.spent[0]
        state, line = after, after.line
    return line


def _applied(state: Betting, action: str, subject: str) -> Betting:
    try:
        return state.apply(action)
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None


def _by_rules(config: TreeConfig, state: Betting, before: int, match: re.Match[str], subject: str) -> str:
    """Return a matched action in the ACPC's form; ``before``: chips that each player put in before this round."""
    kinds, amount = _kinds(match), match["inside"] or match["amount"]
    if kinds == ("fold",):
        return "f"
    if "call" in kinds or "check" in kinds:
        return "c"
    wrong = wrong_word(match[0], max(state.spent) > before)
    if wrong:
        raise InputError(f"{subject}: {wrong}, found {shown(match[0])}")
    bounds = state.raise_bounds()
    if bounds is None:
        raise InputError(f"{subject}: expected {state.legal_text()}, found {shown(match[0])}")
    if kinds == ("allin",):
        return f"r{bounds[1]}"
    if amount is None or (match["mark"] or match["suffix"]) == "%":
        raise InputError(f"{subject}: expected an amount in {config.unit.name}, found {shown(match[0])}")
    chips = Fraction(amount) * config.unit.chips
    if chips.denominator != 1:
        raise InputError(f"{subject}: expected whole chips, found {shown(match[0])}")
    return f"r{before + chips.numerator}"


def line_words(root: Node, line: str) -> str:
    """Write a line, which begins at ``root``, in words, with ``/`` between rounds."""
    rounds: dict[int, list[str]] = {}
    for node, taken in path_to(root, line):
        if node.kind == "decision":
            rounds.setdefault(node.round, []).append(node.actions[taken].label)
    return " / ".join(", ".join(words) for words in rounds.values())


def wrong_word(text: str, faces_bet: bool) -> str:
    """Say what is wrong with "bet" against a bet, "raise" without a bet, or an amount as in "call 20".

    The result is empty for all other texts. A blind is a bet.

    >>> [wrong_word(text, faces_bet=True) for text in ("b 120", "r120", "call 20")]
    ['there is a bet to raise', '', 'it takes no amount']
    """
    match = _PIECE.match(text.strip())
    kinds = _kinds(match) if match and match["word"] else ()
    if match and kinds and {"fold", "check", "call"}.issuperset(kinds):
        return "it takes no amount" if match["inside"] or match["amount"] else ""
    wrong = ("bet",) if faces_bet else ("raise",)
    return f"there is {'a' if faces_bet else 'no'} bet to raise" if kinds == wrong else ""


def faces_bet(node: Node) -> bool:
    """Whether somebody has bet in the round of a decision; a blind is a bet, an ante is none."""
    assert node.player is not None
    for action, child in zip(node.actions, node.children, strict=True):
        if action.amount:
            return max(node.put_in) > child.put_in[node.player] - action.amount
    return any(action.kind == "call" for action in node.actions)


class _Walk:
    def __init__(self, tree: BettingTree, text: str) -> None:
        self._tree, self._node, self.line = tree, tree.entered(""), ""
        for start, match in _pieces(text):
            subject = f"line {shown(text)}, position {start}"
            if isinstance(match, str):
                raise no_action_error(subject, self._node, match)
            if match["slash"]:
                if self._node.kind != "chance":
                    raise no_action_error(subject, self._node, "/")
                self._deal()
                continue
            if self._node.kind == "chance" and self._node.children[0].kind == "decision":
                self._deal()
            if self._node.kind != "decision":
                raise no_action_error(subject, self._node, match[0])
            self._act(_Piece(match, tree.config, subject).action(self._node))

    def _act(self, number: int) -> None:
        self.line += self._node.actions[number].acpc
        self._node = self._node.children[number]

    def _deal(self) -> None:
        self.line += "/"
        child = self._node.children[0]
        goes_on = child.kind == "decision"
        self._node = find_node(self._tree.entered(self.line), self.line) if goes_on else child


class _Piece:
    """An action in the text of a line, parsed but not yet matched with the actions of a decision."""

    def __init__(self, match: re.Match[str], config: TreeConfig, subject: str) -> None:
        self._config, self._subject, self.text = config, subject, match[0].strip()
        self._kinds, self._acpc = _kinds(match), match["word"].lower() == "r"
        amount, suffix = match["inside"] or match["amount"], (match["mark"] or match["suffix"] or "").lower()
        self._amount = None if amount is None else Fraction(amount)
        self._is_share = suffix == "%"
        self._decimals = len((amount or "").partition(".")[2])
        if suffix in ("chips", "bb") and suffix != config.unit.name:
            raise InputError(f"{subject}: expected amounts in {config.unit.name}, found {shown(self.text)}")

        rest = match.string[match.end() :]
        if self._amount is None and {"bet", "raise"} & set(self._kinds) and _ALL_IN.match(rest):
            raise InputError(
                f"{subject}: expected all-in alone, or a comma between two actions, found {shown(self.text + rest)}"
            )

    def action(self, node: Node) -> int:
        numbers = self._matches(node)
        if len(numbers) == 1:
            return numbers[0]
        if not numbers:
            why = wrong_word(self.text, faces_bet(node))
            raise no_action_error(self._subject, node, self.text, self._off(node), why)
        names = " or ".join(node.actions[i].label for i in numbers)
        raise InputError(
            f"{self._subject}: expected {choices(node)}; found {shown(self.text)}, which could be {names}"
        )

    def _matches(self, node: Node) -> list[int]:
        allin = ("allin",) if ("raise" if faces_bet(node) else "bet") in self._kinds else ()
        of_kind = [i for i, action in enumerate(node.actions) if action.kind in (*self._kinds, *allin)]
        if self._amount is None:
            named = [i for i in of_kind if node.actions[i].kind != "allin"]
            return named or of_kind
        sized = [i for i in of_kind if node.actions[i].amount]
        if self._is_share:
            exact = [i for i in sized if self._added(node, i) == self._rounded_share(node)]
            return exact or [
                i for i in sized if self._share_off(node, i) <= Fraction(1, 2 * 10**self._decimals)
            ]
        chips = self._amount * self._config.unit.chips
        return [i for i in sized if chips in self._amounts(node.actions[i])]

    def _amounts(self, action: Action) -> tuple[int, ...]:
        """Return the numbers of chips by which a text may name an action.

        These are the chips that the player has put in on this round after the action. After ``r``, the ACPC's letter
        for a bet or raise, a text may also name the total since the root.
        """
        return (action.amount, action.total) if self._acpc and action.total else (action.amount,)

    def _off(self, node: Node) -> Callable[[Action], float] | None:
        """Return a function: an action's distance in chips or % of the pot from the text's amount; None: no amount."""
        if self._amount is None:
            return None
        if self._is_share:
            return lambda action: float(self._share_off(node, node.actions.index(action)))
        chips = self._amount * self._config.unit.chips
        return lambda action: float(min(abs(amount - chips) for amount in self._amounts(action)))

    def _pot(self, node: Node) -> int:
        """Return the chips in the middle after the player at a decision calls."""
        return self._config.pot + 2 * max(node.put_in)

    def _added(self, node: Node, number: int) -> int:
        """Return how many chips more than a call the action with this number puts in."""
        assert node.player is not None
        return node.children[number].put_in[node.player] - max(node.put_in)

    def _rounded_share(self, node: Node) -> int:
        assert self._amount is not None
        return int(self._pot(node) * self._amount / 100 + Fraction(1, 2))

    def _share_off(self, node: Node, number: int) -> Fraction:
        assert self._amount is not None
        return abs(Fraction(100 * self._added(node, number), self._pot(node)) - self._amount)


def _kinds(match: re.Match[str]) -> tuple[ActionKind, ...]:
    return ACTION_WORDS[re.sub(r"\W", "", match["word"]).lower()]


ACTION_WORDS: dict[str, tuple[ActionKind, ...]] = {
    **dict.fromkeys(("f", "fold", "folds"), ("fold",)),
    **dict.fromkeys(("x", "k", "check", "checks"), ("check",)),
    **dict.fromkeys(("call", "calls"), ("call",)),
    "c": ("check", "call"),
    **dict.fromkeys(("b", "bet", "bets"), ("bet",)),
    **dict.fromkeys(("raise", "raises"), ("raise",)),
    "r": ("bet", "raise"),
    **dict.fromkeys(("a", "allin"), ("allin",)),
}
"""The words for actions, each with the kinds of action that it may mean; an all-in is also a bet or a raise."""
_ACPC, _ACPC_LIMIT = re.compile(r"(?:[fc/]|r[0-9]+)*"), re.compile(r"[fcr/]*")
_GAP = re.compile(r"[\s,]+")
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}"
_PIECE = re.compile(
    rf"""(?P<slash>/)
    | (?P<word>(?:check|call|fold|bet|raise)s?|all[\s-]?in|[abcfkrx])
      (?: \s*\(\s*(?P<inside>{_NUMBER})\s*(?P<mark>%|chips|bb)?\s*\)
        | \s*(?:to\s*)?(?P<amount>{_NUMBER})\s*(?P<suffix>%|chips|bb(?![a-z0-9]))? )?
      (?![0-9.%(])""",
    re.IGNORECASE | re.VERBOSE,
)
_ALL_IN = re.compile(r"\s+(?:is\s+)?all[\s-]?in\b", re.IGNORECASE)
_UNKNOWN = re.compile(r"[^\s,/]+")


def _pieces(text: str) -> Iterator[tuple[int, re.Match[str] | str]]:
    """Yield the actions and slashes of a text, each as its position and its match of `_PIECE`.

    At a word that is neither an action nor a slash, yield the word's position and the word, and end.
    """
    position = 0
    while position < len(text):
        if gap := _GAP.match(text, position):
            position = gap.end()
            continue
        match = _PIECE.match(text, position)
        unknown = _UNKNOWN.match(text, position)
        yield position, match or (unknown[0] if unknown else text[position])
        position = match.end() if match else len(text)
