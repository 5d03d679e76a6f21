"""Solve the betting before the flop at the table, with the bets that were really made.

The round is a matrix game between groups of hands (the 169 groups of hold'em), which `solvers.matrix` solves in a
fraction of a second. The payoffs of the lines that lead to the flop come from the stored strategy (`FlopValues`): on
sampled boards both players follow it to the end of the hand, once for each such line of the stored tree. The payoffs of
a real pot, as shares of the chips that a player has put in, are interpolated linearly between the stored lines with the
nearest smaller and larger pot; a pot with all chips in it has the payoffs of an all-in.

A bet is rounded (`rounded`), so that equal solves serve many bets; solves are cached as long as the bot is open.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from buckets.abstraction import Abstraction
from buckets.cards import hand_orbits
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, iterate, local_exploitability, normalise
from solvers.state import ChunkStrategy
from solvers.tree import DECISION, SHOWDOWN, Floats, Ints
from spewy.bot.resolving.budget import OutOfTimeError
from spewy.bot.resolving.builder import RESOLVING_VARIANT, Root, SubgameBuilder, split_actions
from spewy.bot.resolving.translation import Blueprint
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.nodes import Node
from spewy.look.pairs import MOST_FINAL_BOARDS, compatible, pairs

LOG = logging.getLogger(__name__)
DEALS, DEALS_AT_ONCE, SEED = 192, 8, 20_260
"""Number of sampled boards from which payoffs are computed, number of boards in memory, and seed of the boards."""
ITERATIONS, BATCH = 200, 20
"""Largest number of iterations of a solve, and number of iterations after which the clock is read."""
LOCKED = 1e18
"""Sum of the regrets at a locked decision: so large that no iteration changes the frequencies."""
FINENESS = 16
"""A bet is rounded by at most a part of ``2 * FINENESS``, or by half of a quarter of a big blind if that is more."""
KEPT = 512
"""Number of cached solves, of some 200 KiB each."""


class FlopLine(NamedTuple):
    """A line of the stored tree that enters the round after the first, or an all-in call.

    Attributes:
        put_in: chips that each player has put in.
        raiser: the player who made the last raise; None: nobody raised.
        node: the first decision of the round; None: both players are all-in.
    """

    put_in: int
    raiser: int | None
    node: Node | None


def last_raiser(game: Game, actions: Sequence[str]) -> int | None:
    """Return the player who made the last raise of the first round; None: nobody raised."""
    raised = [i for i, action in enumerate(actions) if action[0] == "r"]
    return (game.first_player[0] + raised[-1]) % 2 if raised else None


def rounded(actions: Sequence[str], start: Betting) -> tuple[str, ...]:
    """Round the raises of the first round to a grid of chips, each to a legal raise.

    The grid has steps of a quarter of a big blind, and larger ones, by powers of two, for larger raises. An all-in
    stays all-in. If the grid leaves no room for a later raise, all raises stay as they are.
    """
    betting, out = start, list[str]()
    for action in actions:
        if action[0] == "r":
            bounds = betting.raise_bounds()
            if bounds is None:
                return tuple(actions)
            total, step = int(action[1:]), max(start.game.big_blind // 4, 1)
            while total >= 2 * FINENESS * step:
                step *= 2
            if total < betting.stack(betting.to_act or 0):
                total = step * round(total / step)
            action = f"r{min(max(total, bounds[0]), bounds[1])}"
        out.append(action)
        betting = betting.apply(action)
    return tuple(out)


class FlopValues:
    """Computes how much each group of hands wins from each other group after the first round, by the stored strategy.

    A *payoff* is player 0's net chips, as a share of the chips that each player has put in when the round ends.
    Computing all payoffs takes some ten seconds, so a file keeps them until the solve has made twice as many deals.

    Args:
        file: the file; None: the payoffs are only kept in memory.

    Attributes:
        group: ``[hand of the deck]``, number of the group of hands that are equal up to suits.
        joint: ``[group, group]``, number of pairs of hands that share no card.
    """

    def __init__(self, blueprint: Blueprint, abstraction: Abstraction, file: Path | None = None) -> None:
        self._file = file
        self._blueprint, self._abstraction, self._game = blueprint, abstraction, blueprint.game
        self.group: Ints = hand_orbits((), blueprint.hands, self._game.deck)
        self.size = np.bincount(self.group)
        _, self._first = np.unique(self.group, return_index=True)
        everyone = np.arange(len(self.group))
        self._deck: Ints = blueprint.hands.astype(np.int64)
        met = compatible(self._deck, (self._first, everyone))
        self.joint = self._by_group(met) * self.size[:, None]

    @cached_property
    def lines(self) -> tuple[FlopLine, ...]:
        """The stored tree's lines that enter the round with chips left to bet, in ascending order of the pot."""
        out: dict[tuple[int, int | None], FlopLine] = {}
        for node in self._blueprint.tree.rounds[1].values():
            line = FlopLine(node.put_in[0], last_raiser(self._game, split_actions(node.line)), node)
            out.setdefault((line.put_in, line.raiser), line)
        return tuple(sorted(out.values(), key=lambda line: line.put_in))

    def around(self, put_in: int, raiser: int | None) -> list[tuple[FlopLine, float]]:
        """Return the stored lines with the nearest smaller and larger pot, with weights that add up to 1.

        Lines with the same last raiser are preferred. If no stored pot is larger, an all-in call takes its place.
        """
        lines = [line for line in self.lines if line.raiser == raiser] or list(self.lines)
        stack = self._blueprint.smallest_stack
        assert stack is not None
        lines.append(FlopLine(stack, raiser, None))
        above = next((i for i, line in enumerate(lines) if line.put_in >= put_in), len(lines) - 1)
        if above == 0 or lines[above].put_in <= put_in:
            return [(lines[above], 1.0)]
        smaller, larger = lines[above - 1], lines[above]
        share = (larger.put_in - put_in) / (larger.put_in - smaller.put_in)
        return [(smaller, share), (larger, 1.0 - share)]

    def played(self, put_in: int, raiser: int | None) -> list[tuple[Node, float]]:
        """Return the stored tree's first decisions of the next round that stand for a pot, with their probabilities."""
        found = [(line.node, share) for line, share in self.around(put_in, raiser) if line.node is not None]
        if not found:
            found = [(line.node, 1.0) for line in self.lines[-1:] if line.node is not None]
        total = sum(share for _, share in found)
        return [(node, share / total) for node, share in found]

    def payoffs(self, put_in: int, raiser: int | None) -> Floats:
        """Return the payoffs ``[group, group]`` of a pot, interpolated between the stored lines next to it."""
        return sum(share * self._payoffs[line.node] for line, share in self.around(put_in, raiser))  # type: ignore[return-value]

    @cached_property
    def decisions(self) -> dict[tuple[int, int], list[Node]]:
        """The stored tree's decisions after the `lines`, by round and player."""
        out: dict[tuple[int, int], list[Node]] = {}
        for line in self.lines:
            assert line.node is not None
            for node in self._blueprint.tree.below(line.node).nodes():
                if node.kind == "decision" and node.player is not None:
                    out.setdefault((node.round, node.player), []).append(node)
        return out

    @cached_property
    def _payoffs(self) -> dict[Node | None, Floats]:
        """Payoffs ``[group, group]`` after each of the `lines`; key None: after an all-in call."""
        nodes = [None, *(line.node for line in self.lines)]
        saved, shape = self._blueprint.saved, (len(nodes), *self.joint.shape)
        try:
            if self._file is not None:
                with np.load(self._file) as found:
                    fits = found["payoffs"].shape == shape and found["deals"] == DEALS
                    if fits and found["saved"] <= saved <= 2 * found["saved"]:
                        return dict(zip(nodes, found["payoffs"].astype(np.float64), strict=True))
        except (OSError, ValueError, KeyError, BadZipFile):
            pass  # no file yet, or a damaged one, which is written anew
        LOG.info("computing what hands win after the flop comes, which takes some seconds, but only once")
        sampled = self._sampled()
        payoffs = np.array([sampled[node] for node in nodes], dtype=np.float32)  # as the file has them
        if self._file is not None:
            self._keep(payoffs, saved)
        return dict(zip(nodes, payoffs.astype(np.float64), strict=True))

    def _keep(self, payoffs: Floats, saved: int) -> None:
        assert self._file is not None
        written = self._file.with_name(f"{self._file.name}-{os.getpid()}")
        try:
            with written.open("wb") as out:
                np.savez(out, payoffs=payoffs, saved=saved, deals=DEALS)
            written.replace(self._file)
        except OSError as error:  # the folder may be read-only
            LOG.info("%s: %s", self._file, error)
            written.unlink(missing_ok=True)

    def _sampled(self) -> dict[Node | None, Floats]:
        """Compute the payoffs on sampled boards; what better hands win without betting needs no samples."""
        totals = {line.node: np.zeros(self.joint.shape) for line in self.lines}
        led, weight = np.zeros(self.joint.shape), np.zeros(self.joint.shape)
        for first in range(0, DEALS, DEALS_AT_ONCE):
            sample = _Sample(self, self._blueprint, self._abstraction, range(first, first + DEALS_AT_ONCE))
            led += (sample.weight * sample.ahead).sum(axis=0)
            weight += sample.weight.sum(axis=0)
            for node, total in totals.items():
                if node is not None:
                    total += (sample.weight * sample.won(node)).sum(axis=0) / node.put_in[0]
        lead, sampled = self._lead, np.divide(led, weight, out=np.zeros_like(led), where=weight > 0)
        lead = sampled if lead is None else lead
        out: dict[Node | None, Floats] = {None: lead}
        for node, total in totals.items():
            mean = np.divide(total, weight, out=np.zeros_like(led), where=weight > 0)
            out[node] = mean + lead - sampled
        return out

    @property
    def _lead(self) -> Floats | None:
        """Exact payoffs ``[group, group]`` of an all-in call; None if there are too many boards."""
        everyone = np.arange(len(self.group))
        lead = pairs(self._game, self._deck, (), (everyone, everyone), MOST_FINAL_BOARDS).lead
        if lead is None:
            return None
        total = self._by_group(lead[self._first]) * self.size[:, None]
        shares: Floats = np.divide(total, self.joint, out=np.zeros_like(total), where=self.joint > 0)
        return shares

    def _by_group(self, pairs_of: Floats) -> Floats:
        """Sum ``[group, hand of the deck]`` over the hands of each group: ``[group, group]``."""
        out = np.zeros((len(pairs_of), len(self.size)))
        np.add.at(out.T, self.group, pairs_of.T)
        return out


class _Sample:
    """Some deals with one hand of each group for each player, chosen at random among the hands that a deal allows.

    Attributes:
        hands: for each player ``[deal, group]``, number of the chosen hand in the deck.
        boards: ``[deal, card]``.
        weight: ``[deal, group, group]``, number of pairs of hands of two groups that the board allows; 0 if the two
            chosen hands share a card.
        ahead: ``[deal, group, group]``, 1 if player 0's hand wins, -1 if it loses, 0 in a tie.
    """

    def __init__(
        self, values: FlopValues, blueprint: Blueprint, abstraction: Abstraction, numbers: range
    ) -> None:
        dealt = abstraction.deal(SEED, numbers)
        rng = np.random.default_rng([SEED, numbers[0]])
        group, n_groups = values.group[dealt.hands], len(values.size)
        chosen = np.zeros((2, len(numbers), n_groups), dtype=np.int64)
        allowed = np.stack([np.bincount(each, minlength=n_groups) for each in group])
        for p, d in np.ndindex(2, len(numbers)):
            order = rng.permutation(group.shape[1])
            found, first = np.unique(group[d][order], return_index=True)
            chosen[p, d, found] = order[first]
        at = np.arange(len(numbers))[:, None]
        self.hands, self.boards = [dealt.hands[at, each] for each in chosen], dealt.boards
        cards = [blueprint.hands[each] for each in self.hands]
        shares = (cards[0][:, :, None, :, None] == cards[1][:, None, :, None, :]).any(axis=(3, 4))
        self.weight = np.where(shares, 0, allowed[:, :, None] * allowed[:, None, :])
        strength = [dealt.strength[at, each] for each in chosen]
        self.ahead = np.sign(strength[0][:, :, None] - strength[1][:, None, :])
        self._strategies: dict[str, Floats] = {}
        """The strategy ``[action, deal, group]`` of each decision, by line."""
        rows = [dealt.rows[at, :, each].transpose(2, 0, 1) for each in chosen]  # [round, deal, group]
        for (t, p), nodes in values.decisions.items():
            lines = [node.line for node in nodes]
            stacked = np.stack(
                [
                    blueprint.in_bucket(t, int(bucket), lines).astype(np.float32)[:, rows[p][t, d]]
                    for d, bucket in enumerate(dealt.board_buckets[:, t])
                ],
                axis=1,
            )
            parts = np.split(stacked, np.cumsum([len(node.actions) for node in nodes])[:-1])
            self._strategies |= zip(lines, parts, strict=True)

    def won(self, node: Node) -> Floats:
        """Compute player 0's mean net chips ``[deal, group, group]`` from ``node`` on, by the stored strategy."""
        folds, showdowns = list[_Ending](), list[_Ending]()
        ones = np.ones(self.weight.shape[:2], dtype=np.float32)
        pending: list[tuple[Node, Floats, Floats]] = [(node, ones, ones)]
        while pending:
            at, first, second = pending.pop()
            if at.kind == "fold":
                folds.append(_Ending(at.put_in[1] if at.player == 1 else -at.put_in[0], first, second))
            elif at.kind == "showdown":
                showdowns.append(_Ending(min(at.put_in), first, second))
            elif at.kind == "chance":
                pending.append((at.children[0], first, second))
            else:
                for child, often in zip(at.children, self._strategies[at.line], strict=True):
                    both = (first * often, second) if at.player == 0 else (first, second * often)
                    pending.append((child, *both))
        won: Floats = _total(folds) + self.ahead * _total(showdowns)
        return won


class _Ending(NamedTuple):
    """An end of the hand: chips of player 0, or of a showdown's winner, and both players' reach ``[deal, group]``."""

    chips: int
    first: Floats
    second: Floats


def _total(endings: Sequence[_Ending]) -> Floats:
    """Sum the chips of all ends of the hand, weighted by both players' reach: ``[deal, group, group]``."""
    if not endings:
        return np.zeros(())
    first = np.stack([end.chips * end.first for end in endings], axis=2)
    second = np.stack([end.second for end in endings], axis=1)
    total: Floats = np.matmul(first, second).astype(np.float64)
    return total


class SolvedPreflop:
    """The first round, solved with the payoffs of `FlopValues`; implements `subgame.Solution`.

    Args:
        group: ``[hand of the deck]``, the group of each hand.
        strategy: for each player ``[slot, group]``.
    """

    def __init__(
        self, builder: SubgameBuilder, root: Root, group: Ints, strategy: ChunkStrategy, iterations: int
    ) -> None:
        self._builder, self._root, self._group, self.strategy = builder, root, group, strategy
        self.iterations = iterations

    @property
    def n_bytes(self) -> int:
        return sum(each.nbytes for each in self.strategy)

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        decision = self._builder.decision(self._root, line)
        if decision is None or board:
            raise KeyError(line)
        _, first, node = decision
        assert node.player is not None
        out: Floats = self.strategy[node.player][first : first + len(node.actions)][:, self._group]
        return out

    def best_values(self, player: int) -> Floats:
        raise KeyError(player)  # the solve does not reach the end of the hand


class PreflopSolver:
    """Solves the first round of a whole game, and caches solves."""

    def __init__(self, builder: SubgameBuilder, values: FlopValues) -> None:
        self._builder, self.values = builder, values
        self._solved = OrderedDict[tuple[Root, bytes], SolvedPreflop]()

    def forget(self) -> None:
        """Release the memory of cached solves."""
        self._solved.clear()

    def solve(self, root: Root, kept: Mapping[str, Floats], deadline: float | None = None) -> SolvedPreflop:
        """Solve the round for both players.

        Args:
            kept: frequencies ``[action, hand of the deck]`` of the decisions that are locked, by line.
        """
        digest = hashlib.blake2b(digest_size=16)
        for line, frequencies in sorted(kept.items()):
            digest.update(line.encode() + frequencies.tobytes())
        key = root, digest.digest()
        if key not in self._solved:
            self._solved[key] = self._solve(root, kept, deadline)
        self._solved.move_to_end(key)
        while len(self._solved) > KEPT:
            self._solved.popitem(last=False)
        return self._solved[key]

    def _solve(self, root: Root, kept: Mapping[str, Floats], deadline: float | None) -> SolvedPreflop:
        values, builder = self.values, self._builder
        chunk = self._chunk(root)
        regrets, sums = chunk.zeros(), chunk.zeros()
        first_hands = np.unique(values.group, return_index=True)[1]
        for line, frequencies in kept.items():
            decision = builder.decision(root, line)
            if decision is None or decision[2].player is None:
                raise InputError(f"line {line!r}: the tree before the flop has no decision here")
            _, first, node = decision
            mine = frequencies[:, first_hands]
            known = ~np.isnan(mine).any(axis=0)
            regrets[decision[2].player][first : first + len(node.actions), known] = LOCKED * mine[:, known]
        how, done, last = variant(RESOLVING_VARIANT), 0, 0.0
        while done < ITERATIONS:
            began = time.monotonic()
            if deadline is not None and began + last > deadline:
                break
            with builder.pace.spending("iterate"):
                # the first iteration would forget all earlier regrets, also those of locked decisions
                iterate(chunk, how, done + 1, BATCH, regrets, sums)
            done, last = done + BATCH, time.monotonic() - began
        if not done:
            raise OutOfTimeError("there was no time to solve the round before the flop")
        return SolvedPreflop(builder, root, values.group, normalise(chunk, sums), done)

    def gap(self, root: Root, solved: SolvedPreflop) -> float:
        """Return the exploitability of a solve in its round, in chips per hand, if the payoffs are exact."""
        return local_exploitability(self._chunk(root), solved.strategy) / float(self.values.joint.sum())

    def _chunk(self, root: Root) -> Chunk:
        values, (betting,) = self.values, self._builder.betting(root)
        arrays, nodes = betting.forest.arrays, betting.nodes
        matrices, operator, scale = [values.joint], np.full(len(nodes), -1), np.zeros(len(nodes))
        for n, node in enumerate(nodes):
            if arrays.kind[n] == SHOWDOWN:
                put_in = min(node.put_in)
                raiser = last_raiser(self._builder.game, split_actions(node.line))
                operator[n], scale[n] = len(matrices), put_in
                matrices.append(values.joint * values.payoffs(put_in, raiser))
            elif arrays.kind[n] != DECISION:
                operator[n], scale[n] = 0, arrays.stake[n]
        both = np.array(matrices)
        ones = np.ones(len(values.joint))
        return Chunk(betting.forest, (both, both), operator, scale, (ones, ones))
