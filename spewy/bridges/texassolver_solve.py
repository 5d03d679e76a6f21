"""Solves of TexasSolver: the JSON of ``dump_result`` as one side of a comparison (`spewy.look.compare`).

The file has actions, players and strategies, but no pot, stacks, ranges or values. The pot, the stacks and the initial
ranges are those of the other solve in the comparison; EVs and equities are NaN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from buckets.cards import Deck, card_name, hand_index, hand_name, hands, parse_cards
from buckets.errors import CardError
from solvers.tree import Floats
from spewy.chunks.locate import Place, board_cards, node_at
from spewy.chunks.problem import Problem
from spewy.errors import InputError, path_text, short, shown
from spewy.game.betting import Betting
from spewy.game.nodes import Action, Node, find_node, path_to
from spewy.job.job import Job, SpotJob
from spewy.look.chunk import NodeTotals
from spewy.look.node import NodeView
from spewy.look.view import SolveView
from spewy.system.textfile import read_text

Found = Mapping[str, Any]
SEATS = {1: 0, 0: 1}
"""Our number of each of TexasSolver's players: its player 1 acts first."""
_ACTION = re.compile(r"(CHECK|CALL|FOLD)|(BET|RAISE) (\d{1,12}(?:\.\d+)?)")


class TexasSolve:
    """A solve of TexasSolver, to be compared with another solve of the same spot.

    Args:
        path: file that ``dump_result`` has written.
        like: the other solve, which gives the pot, the stacks and the ranges.
    """

    def __init__(self, path: Path, like: SolveView) -> None:
        self._subject = f"file {path_text(path)}"
        if not isinstance(like.job, SpotJob) or like.job.rules.limit:
            raise InputError(
                f"{self._subject}: expected a no-limit spot to compare with, found job {like.job.name}"
            )
        self._like, self._ranges, self._config = like, like.job.ranges, like.job.tree_config
        self._found = self._read(path)
        start = replace(self._config, min_bet=1).start()
        self.root = self._decision(self._found, start, 0)

    @property
    def job(self) -> Job:
        return self._like.job

    @property
    def problem(self) -> Problem:
        return self._like.problem

    def decision(self, line: str, cards: Sequence[int] | None = None) -> Place:
        node, _ = node_at(
            self.problem, line, cards, decision=True, find=lambda text: find_node(self.root, text)
        )
        return Place(node, board_cards(self.problem, node.round, cards))

    def node(self, line: Place, *, ev: bool = True) -> NodeView:
        """Return the decision at a place; its reach follows from the initial range and the file's strategies."""
        del ev
        player, cards = line.node.player, line.cards
        assert player is not None
        reach = np.array(self._ranges[player].weights)
        found, dealt = self._found, iter(cards[len(self._like.job.board) :])
        for above, number in path_to(self.root, line.line):
            if above.kind == "chance":
                found = self._after_card(found, next(dealt))
                continue
            if above.player == player:
                reach *= self._strategy(found, above)[number]
            found = self._child(found, above, number)
        strategy = self._strategy(found, line.node)
        held = hands(Deck(), 2)
        here = [
            h
            for h in np.flatnonzero(np.isfinite(reach) & (reach > 0)).tolist()
            if np.isfinite(strategy[0, h]) and not set(held[h]) & set(cards)
        ]
        unknown = np.full(len(here), np.nan)
        actions = tuple(action.label for action in line.node.actions)
        return NodeView(
            player,
            line.line,
            cards,
            actions,
            tuple(hand_name(held[h]) for h in here),
            reach[here],
            strategy[:, here],
            unknown,
            np.full((len(actions), len(here)), np.nan),
            unknown,
            game=self.job.rules,
        ).in_unit(self.job.amounts)

    def totals(self, line: Place) -> NodeTotals:
        view, unknown = self.node(line), (float("nan"), float("nan"))
        return NodeTotals(float("nan"), view.frequencies, unknown, unknown)

    def pot_at(self, node: Node) -> float:
        return self._like.pot_at(node)

    def _read(self, path: Path) -> Found:
        try:
            found = json.loads(read_text(path, self._subject))
        except json.JSONDecodeError as error:
            raise InputError(
                f"{self._subject}, line {error.lineno}, column {error.colno}: expected JSON, found: {error.msg}"
            ) from None
        except (ValueError, RecursionError):
            raise InputError(f"{self._subject}: expected the JSON of TexasSolver, found other JSON") from None
        if not isinstance(found, dict) or "actions" not in found or "player" not in found:
            raise InputError(
                f"{self._subject}: expected the JSON that TexasSolver's dump_result writes, found other JSON"
            )
        return found

    def _decision(self, found: Found, state: Betting, before: int) -> Node:
        """Build the node of a decision with all nodes below; after a chance node, only those of the file's first card.

        Each player has put in ``before`` chips before the round.
        """
        actions, children = [], []
        line = state.line
        if SEATS.get(found.get("player", -1)) != state.to_act:
            raise self._other(line, f"player {shown(found.get('player'))}")
        for name in self._names(found, line):
            action = self._action(name, state, before)
            below = self._below(found, name)
            if action.kind == "fold":
                child = self._end("fold", state, line + "f", state.to_act)
            elif action.total is not None:
                child = self._answer(below, self._applied(state, action), before)
            else:
                child = self._called(below, state, before)
            actions.append(action)
            children.append(child)
        return self._make("decision", state, line, state.to_act, tuple(actions), tuple(children))

    def _answer(self, below: Found | None, state: Betting, before: int) -> Node:
        if below is None:
            raise self._other(state.line, "no answer")
        return self._decision(below, state, before)

    def _called(self, below: Found | None, state: Betting, before: int) -> Node:
        following = state.called()
        if following.is_over:
            return self._end("showdown", following, following.line)
        if following.round == state.round:
            return self._answer(below, following, before)
        deals = {} if below is None else below.get("dealcards") or {}
        first = next(iter(deals.values()), None)
        children = (
            () if not isinstance(first, dict) else (self._decision(first, following, following.spent[0]),)
        )
        node = self._make("chance", following, state.line + "c", None, (), children)
        return replace(node, round=self._config.start_round + state.round)

    def _end(self, kind: Any, state: Betting, line: str, player: int | None = None) -> Node:
        return self._make(kind, state, line, player)

    def _make(
        self,
        kind: Any,
        state: Betting,
        line: str,
        player: int | None,
        actions: tuple[Action, ...] = (),
        children: tuple[Node, ...] = (),
    ) -> Node:
        return Node(
            kind, player, self._config.start_round + state.round, state.spent, actions, children, line
        )

    def _action(self, name: str, state: Betting, before: int) -> Action:
        match = _ACTION.fullmatch(name)
        if match is None:
            raise self._other(state.line, shown(name))
        unit, player = self.job.amounts, state.to_act
        assert player is not None
        if match[1]:
            kind: Any = match[1].lower()
            return Action(kind, 0, "f" if kind == "fold" else "c", unit)
        total = state.spent[player] + round(float(match[3]) * unit.chips)
        stack = self._config.stack
        kind = "allin" if stack is not None and total >= stack else match[2].lower()
        return Action(kind, total - before, f"r{total}", unit)

    def _applied(self, state: Betting, action: Action) -> Betting:
        try:
            return state.apply(action.acpc)
        except InputError:
            stack = self.job.amounts.text(self._config.stack or 0)
            raise InputError(
                f"{self._subject}: {action.label} after {state.line!r} is not legal with the stack {stack} of job "
                f"{self.job.name}; compare solves of the same spot"
            ) from None

    def _names(self, found: Found, line: str) -> list[str]:
        names = found.get("actions")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise self._other(line, shown(names))
        return names

    def _below(self, found: Found, name: str) -> Found | None:
        children = found.get("childrens") or {}
        below = children.get(name) if isinstance(children, dict) else None
        return below if isinstance(below, dict) else None

    def _child(self, found: Found, node: Node, number: int) -> Found:
        below = self._below(found, self._names(found, node.line)[number])
        if below is None:
            raise self._other(node.children[number].line, "no node")
        return below

    def _after_card(self, found: Found, card: int) -> Found:
        deals = found.get("dealcards") or {}
        below = deals.get(card_name(card)) if isinstance(deals, dict) else None
        if not isinstance(below, dict):
            raise InputError(
                f"{self._subject}: the file has no strategies after the {card_name(card)}; TexasSolver writes later "
                "rounds after set_dump_rounds 2 or 3"
            )
        return below

    def _strategy(self, found: Found, node: Node) -> Floats:
        """Return the frequencies ``[action, hand]`` of all hands of the deck; NaN for hands that the file lacks."""
        part = found.get("strategy")
        rows = part.get("strategy") if isinstance(part, dict) else None
        if not isinstance(rows, dict):
            raise self._other(node.line, "no strategy")
        strategy = np.full((len(node.actions), len(self._ranges[0].weights)), np.nan)
        for name, row in rows.items():
            try:
                shares = np.array(row, dtype=np.float64)
                hand = int(hand_index(Deck(), parse_cards(name)))
            except (CardError, ValueError, TypeError):
                raise self._other(node.line, f"hand {shown(name)}") from None
            if shares.shape != (len(node.actions),):
                raise self._other(node.line, f"{len(np.atleast_1d(shares))} frequencies of {short(name)}")
            strategy[:, hand] = shares
        return strategy

    def _other(self, line: str, what: str) -> InputError:
        return InputError(
            f"{self._subject}, after {line!r}: expected a decision as TexasSolver writes it, found {what}"
        )
