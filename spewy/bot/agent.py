"""The bot that plays a whole game from a solve's folder, and re-solves subgames at the table."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np

from buckets.cards import blocked
from spewy.bot.beliefs import Beliefs
from spewy.bot.bet_translation import draw_action
from spewy.bot.bot import Answer, Mix, Reveals
from spewy.bot.options import Keywords, Options, Resolve
from spewy.bot.resolving.budget import Budget, TimeBank, importance
from spewy.bot.resolving.builder import Root, SubgameBuilder
from spewy.bot.resolving.preflop import FlopValues, PreflopSolver
from spewy.bot.resolving.subgame import HandContext
from spewy.bot.resolving.translation import Blueprint
from spewy.bot.stored_play import PublicState, pot_odds
from spewy.bot.tally import Counts, Spent, Tally, is_expected
from spewy.errors import InputError, path_text
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.records.caches import PREFLOP_FILE
from spewy.records.policy import Policy
from spewy.system.tools import Closing

LOG = logging.getLogger(__name__)


def open_bot(
    folder: str | Path, options: Options | None = None, *, ready: bool = True, **keywords: Unpack[Keywords]
) -> LockerBot:
    """Open a bot that plays a whole game from a solve's folder; the solve may be running.

    Args:
        folder: folder of the solve, or a copy of its strategy locker.
        options: all options as one record (`spewy.bot.options.Options`), in place of keywords.
        resolve: when to re-solve, in the rounds that ``rounds`` and ``flops`` allow: "never"; "off-tree", if no
            strategy is stored for the betting so far; "always", in that case and at the start of each of these rounds
            that no earlier re-solve covers.
        rounds: number of last rounds that are re-solved exactly, to the end of the hand; 2 means turn and river. The
            first round is solved alone, and only after bets that the tree lacks (`spewy.bot.resolving.preflop`).
        safe: whether the opponent must gain nothing from re-solving, or the name of the gadget that ensures this
            (`solvers.resolve`); True means "mixed". False: re-solve as if both ranges were known.
        iterations: largest number of iterations of an exact solve; None: 400, or 2,000 with ``seconds_per_hand``. If it
            is the only limit, decisions can be repeated exactly, after a sampled solve only with one thread.
        seconds: time budget of one decision; None: no limit. The bot skips stages of a solve, or the whole solve, if it
            does not expect them to fit. A stage that takes longer than predicted can exceed the budget.
        seconds_per_hand: time budget of all decisions together, in seconds for each hand that has begun; it replaces
            ``seconds``. The bot saves the time of hands that need no re-solve (`spewy.bot.resolving.budget`).
        translation: how to translate a bet that the tree lacks: with "random" each hand draws one of the tree's two
            neighbouring bets, in secret (`spewy.bot.stored_play`); "likelier" takes the more probable bet of the two.
        threads: number of threads of a solve; None: with ``resolve="always"`` all cores that this process may use,
            otherwise 1.
        strict: whether to raise errors that only a bug can cause, such as a TypeError. Otherwise the bot counts the
            error, and plays the stored strategy, or checks or folds.
        ready: whether to do now what the first decision would otherwise wait for: compile and load functions, and time
            a small solve.
        menu: bet sizes of a solve in no-limit games, besides the bets that were made (`spewy.bot.resolving.builder`):
            "lean", the pot and all-in; "job", those of the job file. If these take too much memory or time, the bot
            uses fewer sizes.
        flops: how rounds between the first round and the last ``rounds`` are re-solved, in hold'em the flop: "stored",
            not at all; "sampled", each round alone, by sampling the cards of later rounds; "quick", each round alone,
            on all later boards, with few bets there, in no-limit games; "exact", to the end of the hand, which
            takes sixteen cores and a few GiB in no-limit hold'em.

    Raises:
        lockers.LockerError: the folder has no strategy, or the strategy is damaged.
    """
    if options is not None and keywords:
        raise InputError("bot: expected options as one record or as keyword arguments, found both")
    bot = bot_of(folder, options or Options.of(**keywords))
    try:
        if ready:
            _make_ready(bot)
            bot.warm_up()
        return bot
    except BaseException:
        bot.close()
        raise


def bot_of(folder: str | Path, options: Options) -> LockerBot:
    """Open the bot of a folder, without compiling or loading what its decisions need."""
    from spewy.look.folder import open_policy, require_one_solve

    require_one_solve(folder)
    with ExitStack() as opened:
        policy = opened.enter_context(open_policy(folder))
        try:
            bot = LockerBot(policy, options, Path(folder))
        except InputError as error:
            raise InputError(f"folder {path_text(folder)}: {error}") from None
        opened.pop_all()
        return bot


def _make_ready(bot: LockerBot) -> None:
    """Compile the kernels for re-solving, unless compiled kernels are cached."""
    from spewy.run.warmup import Kernels, warm_up

    game, options, wanted = bot.game, bot.options, []
    for t in range(game.num_rounds):
        method = None if options.resolve == "never" else options.method(t, game.num_rounds)
        if method == "sampled":
            wanted.append(Kernels("sampled", game.num_rounds - t))
        elif method is not None and game.num_hole_cards == 2:
            wanted.append(Kernels("exact", game.num_rounds - t, short=method == "quick"))
    warm_up(wanted, LOG.info)


class LockerBot(Closing):
    """Plays a whole game from a solve's folder; implements `spewy.bot.bot.Foreseeable`.

    The public state, the seed and the stored strategy determine the bot's play. With a time limit for decisions, the
    machine's speed matters too.

    Args:
        policy: the stored strategy of a whole game; the bot's `close` closes it.
        folder: the folder of the solve, in which the bot keeps values for solves before the flop; None: nowhere.

    Attributes:
        tally: number of decisions of `act` by source, failures, and the time of decisions.
        bank: the time bank that ``options.seconds_per_hand`` fills; None: each decision has ``options.seconds``.

    Raises:
        InputError: the stored strategy is that of a spot.
    """

    def __init__(self, policy: Policy, options: Options | None = None, folder: Path | None = None) -> None:
        self.options = options or Options()
        self._blueprint = Blueprint(policy)
        self._builder = SubgameBuilder(self._blueprint.config)
        self._preflop = _preflop_solver(self._blueprint, self._builder, self.options, folder)
        self._seat, self._seed, self.tally = 0, 0, Tally()
        per_hand = self.options.seconds_per_hand
        self.bank = None if per_hand is None else TimeBank(per_hand)
        self._asked = dict[Hashable, Spent]()
        self._state: PublicState | None = None
        self._beliefs = self._new_beliefs()

    @property
    def game(self) -> Game:
        return self._builder.game

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """Begin a hand, and forget the re-solved subgames of the previous hand."""
        del hand
        self._seat, self._seed = seat, seed
        self._forget()
        if self.bank is not None:
            self.bank.new_hand()

    def act(self, hand: Hand) -> str:
        """Draw a legal ACPC action at random, by the strategy of the player to act for that player's hole cards."""
        self._state = None
        try:
            answer = self.answer(hand)
            action, source = self._draw(hand, answer), answer.source
            hand.apply(action)
        except Exception as error:
            if self.options.strict and not is_expected(error):
                raise
            # The table waits for an action; the tally and the log keep the reason.
            action, source = hand.betting.passive, "fallback"
            trace = not is_expected(error)
            LOG.error(
                "line %r: played %s after an error: %s", hand.betting.line, action, error, exc_info=trace
            )
            self.tally.failed(hand.betting.line, error)
        self.tally.sources[source] += 1
        self._decided()
        return action

    def strategy(self, hand: Hand) -> Mix:
        """Return the strategy of the player to act, for each hand that the board does not block."""
        answer = self.answer(hand)
        live = np.flatnonzero(~blocked(self._blueprint.hands, hand.board))
        return Mix(answer.actions, live, answer.frequencies[:, live])

    def is_cheap(self, hand: Hand) -> bool:
        """Whether the strategy at a public state is read from the folder, without a re-solve."""
        if self.options.resolve == "never":
            return True
        first = self.options.first_round(self.game.num_rounds)
        return hand.betting.round < first and self._beliefs.at(hand).subgame is None

    def answer(self, hand: Hand) -> Answer:
        """Return the strategy of the player to act for all hands of the deck, and its source."""
        self._require_game(hand)
        if hand.to_act is None:
            raise InputError(f"hand {hand.betting.line!r}: expected a player to act, found none")
        with self._timed(hand) as state:
            return self._beliefs.decide(state)

    def actions(self, hand: Hand) -> tuple[str, ...]:
        """Return the ACPC actions that the bot's strategy can take at a decision."""
        self._require_game(hand)
        return tuple(self._beliefs.actions(self._beliefs.at(hand)))

    def warm_up(self) -> None:
        """Load what decisions need and time a small solve, so that the first decision is as fast as later decisions.

        Errors are only logged; if the same error happens again in a decision, the tally counts it.
        """
        try:
            for _ in range(2):  # the measured times of the first run include loading
                self._builder.pace.forget()
                self._play_once()
        except Exception as error:
            LOG.warning("warm-up: %s: %s", type(error).__name__, error, exc_info=not is_expected(error))

    def _play_once(self) -> None:
        """Load what decisions need: play a hand by checks and calls, up to the first round with exact re-solves."""
        game, last = self.game, self.options.first_exact_round(self.game.num_rounds)
        resolve: Resolve = "never" if self.options.resolve == "never" else "always"
        options = replace(self.options, resolve=resolve, iterations=3, deals=32, seconds=None, strict=False)
        beliefs, hand = self._new_beliefs(options, Tally()), Hand.start(game)
        pot_odds(hand, self.initial_ranges[0], 0)
        if self._preflop is not None:
            self._preflop.solve(Root(0, 0, None), {})
        while not hand.is_over:
            if hand.to_deal:
                dealt = len(hand.board)
                hand = hand.deal(game.deck.cards[dealt : dealt + hand.to_deal])
            beliefs.decide(beliefs.at(hand))
            if hand.betting.round == last:
                break
            hand = hand.apply("c")

    @property
    def hands(self) -> np.ndarray:
        """All hands of the deck, ``[hand of the deck, hole card]``."""
        return self._blueprint.hands

    @property
    def initial_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Both players' ranges at the deal, each ``[hand of the deck]``."""
        return self._blueprint.initial_range(0), self._blueprint.initial_range(1)

    def begins_subgame(self, hand: Hand) -> bool:
        """Whether the current decision begins a subgame that the bot re-solves to the end of the hand."""
        state = self._beliefs.at(hand)
        return state.begins_subgame and not (state.subgame is None or state.subgame.ends_with_round)

    def best_values(self, hand: Hand, player: int) -> np.ndarray:
        """Return a player's best-response values in the re-solved subgame that begins at the decision.

        The values are ``[hand of the deck]``, weighted by the opponent's range, whose largest weight is scaled to 1.

        Raises:
            solvers.errors.SolverError: every pair of hands in the two ranges shares a card.
        """
        with self._timed(hand) as state:
            return self._beliefs.best_values(state, player)

    def ranges(self, hand: Hand) -> tuple[np.ndarray, np.ndarray]:
        """Return both players' ranges ``[hand of the deck]`` at a public state if both follow this bot's strategy."""
        self._require_game(hand)
        with self._timed(hand) as state:
            return self._beliefs.range(state, 0), self._beliefs.range(state, 1)

    def hand_over(self, hand: Hand) -> None:
        """Forget the re-solved subgames of the hand."""
        del hand
        self._forget()

    def forget(self) -> None:
        """Release the memory of re-solved subgames, also during a hand; they are solved again when they are needed."""
        self._forget()
        self._builder.forget()
        if self._preflop is not None:
            self._preflop.forget()

    def close(self) -> None:
        self._blueprint.close()

    def _forget(self) -> None:
        self._beliefs = self._new_beliefs()
        self._asked.clear()
        self._state = None

    @contextmanager
    def _timed(self, hand: Hand) -> Iterator[PublicState]:
        """Yield a hand's public state; the ``with`` block is timed, and limited by the time budget of the decision."""
        began, state = time.monotonic(), self._beliefs.at(hand)
        self._builder.pace.take_spent()
        key, self._state = _same_solve(state), state
        try:
            if self.bank is not None:
                self._limit(state, self.bank)
            yield state
        finally:
            spent = Spent(hand.betting.round, time.monotonic() - began, self._builder.pace.take_spent())
            self._asked[key] = self._asked.get(key, Spent(spent.round, 0.0)) + spent

    def _limit(self, state: PublicState, bank: TimeBank) -> None:
        before = self._asked.get(_same_solve(state))
        allowed = bank.allowance(self._importance(state), 0.0 if before is None else before.seconds)
        self._beliefs.budget.allow(allowed)
        if allowed <= 0 and state.subgame is not None:
            LOG.info("line %r: the time bank is empty: no subgame is solved", state.betting.line)

    def _importance(self, state: PublicState) -> float:
        """Return the weight by which the time bank gives seconds to the solve that a decision may need."""
        above: PublicState | None = state
        while above is not None and above.subgame is None:
            above = above.above
        subgame = None if above is None else above.subgame
        size = 1 if subgame is None else subgame.size
        return importance(sum(state.betting.spent) / self.game.big_blind, size)

    def _decided(self) -> None:
        """Record the time of a decision and of earlier requests to its solve, and charge the sum to the time bank."""
        state, self._state = self._state, None
        if state is None:
            return  # the hand belongs to another game
        spent = replace(self._asked.pop(_same_solve(state)), round=state.betting.round)
        self.tally.spent.append(spent)
        left = ""
        if self.bank is not None:
            self.bank.charge(spent.seconds, self._importance(state) if spent.solved else 0.0)
            left = f"; {self.bank.left:.3g} s in the time bank"
        if spent.solved:
            LOG.info("line %r: %s%s", state.betting.line, spent.told, left)

    def _new_beliefs(self, options: Options | None = None, tally: Tally | None = None) -> Beliefs:
        options = options or self.options
        context = HandContext(
            self._blueprint,
            self._builder,
            options,
            self.tally if tally is None else tally,
            Budget(options.seconds),
            self._seed,
            self._preflop,
        )
        return Beliefs(context)

    def _require_game(self, hand: Hand) -> None:
        if replace(hand.game, name=self.game.name) != self.game:
            raise InputError(
                f"hand: expected a hand of the game {self.game.name!r}, found a hand of {hand.game.name!r}"
            )

    def _draw(self, hand: Hand, answer: Answer) -> str:
        player = hand.to_act
        hole = None if player is None else hand.hole[player]
        if hole is None:
            raise InputError("hand: the hole cards of the player to act are unknown, or no player is to act")
        frequencies = answer.frequencies[:, self.game.hand_number(hole)]
        if not frequencies.sum() > 0:
            raise InputError(
                "strategy: all frequencies of the hand are 0; expected frequencies that add up to 1"
            )
        text = f"{self._seat}{hand.betting.line}{hand.board}"
        return answer.actions[draw_action(frequencies, self._seed, text)]


def _preflop_solver(
    blueprint: Blueprint, builder: SubgameBuilder, options: Options, folder: Path | None
) -> PreflopSolver | None:
    """Return the solver of the betting before the flop; None: bets there are translated, or always in the tree."""
    game, abstraction = blueprint.game, blueprint.abstraction
    dealt = game.num_rounds > 1 and not game.num_board_cards[0]
    if options.resolve == "never" or game.limit or abstraction is None or not dealt:
        return None
    return PreflopSolver(
        builder, FlopValues(blueprint, abstraction, None if folder is None else folder / PREFLOP_FILE)
    )


def _same_solve(state: PublicState) -> Hashable:
    """Return an object that is equal for public states whose strategies come from the same solve."""
    return state.subgame or (state.betting.line, state.hand.board)


_: type[Reveals] = LockerBot
__: type[Counts] = LockerBot
