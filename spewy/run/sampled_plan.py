"""Plan the solve of a job that samples boards: its cost (lines, buckets, memory, disk, time), and whether it fits."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import comb, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.abstraction import AbstractionSpec
from buckets.abstraction.abstraction import DEALS
from buckets.abstraction.percentiles import start_kinds
from buckets.cards import board_map, count_boards
from buckets.cards.boards import MAX_NUMBERS
from lockers import STORE_BYTES, DiskSize, Store, open_store
from spewy.chunks.bucket_locker import kept_sizes
from spewy.chunks.rounds import LineForest, line_forests
from spewy.errors import InputError, path_text, size_text
from spewy.game.count import MAX_NODES, require_buildable
from spewy.game.gamefile import Game
from spewy.job.job import Job
from spewy.job.sections import DaskSection, SolveSection
from spewy.job.settings import Dealing
from spewy.job.texts import parse_memory
from spewy.learn.engine import Engine
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import BYTES_AT_ONCE, PORTIONS, read_mark, require_numbers
from spewy.records.policy import BucketPolicy, Policy
from spewy.records.strategy_locker import FOLDER, PORTION, StrategyLocker
from spewy.run.cost import CLUSTERING_BYTES, PROCESS_BYTES, VISIT_BYTES, Cost, Count
from spewy.run.events import Advanced, Listener, Noted, noting
from spewy.run.plan import Note, Plan, connect
from spewy.run.stopping import Stopping
from spewy.run.stores import Stores, StoresOfDeals
from spewy.run.warmup import Kernels, warm_up

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction
    from solvers.sampled.batches import LineBatches
    from spewy.learn.sampled import SampledEngine, Start

APART = ("name", "boards", "rows", "solve")
"""Keys and sections that may differ between a job and the solve from which it starts."""
LONG = 10.0
"""Seconds for computing board buckets and rows above which a note announces the computation."""
RIVALS = 1.7  # factor of the time of a deal if players learn against rivals, CFR-BR (measured)
SENT = 2
"""Number of copies of the state that a solve on a cluster needs, since a worker's share is buffered until complete."""
MAKING = 6.5  # bytes for each hand on each final board, while board buckets and rows are computed (measured)
MAKING_SECONDS = 1e-3  # rough seconds for each final board, while board buckets and rows are computed
JUDGING = 60
"""Bytes for each hand on each later board of a flop, while exploitability is measured on the flop."""
FOUND = 3  # copies of the results of a measurement: of single flops, and combined (measured)
OVERLAP = 16  # bytes for each pair of overlapping rows: a number and an index, twice
COPIES = 3 * BYTES_AT_ONCE  # bytes of arrays that are being saved: plain, encoded, and in the transaction
SECONDS_PER_DEAL = 70e-6  # seconds to draw the cards of a deal
SECONDS_PER_HAND = (37e-9, 30e-9, 3.6e-9)
"""Measured seconds of a deal for each hand and each batch of lines; hand and `Run` of lanes; hand and action."""


@dataclass(frozen=True, kw_only=True)
class SampledPlan(Plan):
    """Plan of a job that samples boards.

    Attributes:
        dealing: settings of the sampling, such as its seed.
        spec: the board buckets and rows that the job asks for.
        made: the board buckets and rows in the strategy locker of the folder, if any; None: they are taken from the
            user's bucket locker, or computed.
    """

    mapped_bytes = 192 * 2**20  # measured: 130 MiB

    cost: SampledCost
    dealing: Dealing
    spec: AbstractionSpec
    rounds: list[LineForest]
    made: Abstraction | None = None

    @classmethod
    def of(cls, job: Job, *, made: Abstraction | None = None, in_memory: bool = False) -> SampledPlan:
        """Make the plan of a job; ``made`` are the board buckets and rows in its folder, if any."""
        assert job.dealing is not None
        dealing, spec = job.dealing, spec_of(job.rules, job.dealing)
        sizes = kept_sizes(spec) if made is None else (made.n_board_buckets, made.n_rows)
        board_buckets, rows = sizes or (n_board_buckets(spec), n_rows(spec))
        _require_possible(job, board_buckets, rows)
        rounds = line_forests(job.betting_tree)

        def estimate(job: Job) -> SampledCost:
            cost = sampled_cost(job, spec, rounds, board_buckets, rows, made=sizes is not None)
            kept = cost.disk_bytes if in_memory else 0
            return replace(
                cost, memory_bytes=cost.memory_bytes + kept, process_bytes=cost.process_bytes + kept
            )

        cost, refusal = estimate(job), None
        if cost.memory_bytes > parse_memory(job.solve.memory):
            short = None if job.solve.short else estimate(job.replace(precision="16-bit"))
            refusal = _refusal(job, cost, short)
        return cls(job=job, cost=cost, refusal=refusal, dealing=dealing, spec=spec, rounds=rounds, made=made)

    @property
    def threads(self) -> int:
        """Number of threads that a run starts, including a thread for saves."""
        return self.job.solve.threads + 1

    @property
    def most_rake(self) -> float:
        """0, since whole games have no rake."""
        return 0.0

    @property
    def stopping(self) -> Stopping:
        return Stopping.of(self.job)

    def require(self, folder: Path | None = None) -> None:
        super().require(folder)
        if folder is not None:
            _require_room(folder, self.cost.most_disk_bytes)

    def start(self, folder: Path) -> Start:
        """Open the regrets and averages in the folder of another solve, with which a new solve can begin."""
        from spewy.learn.sampled import Start

        if not folder.is_dir():
            raise InputError(
                f"start from {path_text(folder)}: expected the folder of another solve, found none"
            )
        with open_store(folder, read_only=True) as store:
            require_numbers(store, f"start from {path_text(folder)}")
            old, mark = _same_game(store, self.job, folder), read_mark(store)
        if not mark.deals:
            raise InputError(f"start from {path_text(folder)}: no deals are saved there")
        most = self.job.solve.memory
        cost = SampledPlan.of(old.replace(memory=most)).cost  # a folder does not keep its job's memory
        needed = self.cost.memory_bytes + cost.state_bytes
        if needed > parse_memory(most):
            raise InputError(
                f"solve.memory: a start from {folder} needs {size_text(needed)}, for both solves together, "
                f"found {most}"
            )
        opened, play = (partial(open_store, path, read_only=True) for path in (folder, folder / FOLDER))
        return Start(str(folder), old.rules, old.solve.short, mark, opened, play)

    def stores(self, folder: Path | None) -> StoresOfDeals:
        return StoresOfDeals(self.job, folder)

    def prepare(self, note: Note, done: int) -> None:
        warm_up([Kernels("sampled", len(self.rounds), self.job.solve.short)], note)
        if self.cost.making_seconds > LONG:
            note(f"{self.job.name}: computing board buckets and rows, which takes minutes, but only once")

    def engine(self, stores: Stores, start: Start | None, tell: Listener) -> Engine:
        """Make the engine; create the strategy locker if it is missing."""
        assert isinstance(stores, StoresOfDeals)
        from spewy.chunks.bucket_locker import abstraction

        board_buckets = self.made or abstraction(self.spec, lambda done, total: tell(Advanced(done, total)))
        with ExitStack() as opened:
            engine = self._dealing_engine(stores, board_buckets, tell)
            opened.callback(engine.close)
            if start is not None and not engine.done:
                start.fill(engine, board_buckets)
                tell(Noted(f"{self.job.name}: {start.text}"))
            with stores.play(make=True) as store:
                strategy_locker.begin(
                    store, engine.lines, board_buckets.n_board_buckets, board_buckets.arrays
                )
            engine.save_to(stores.use, stores.play)
            opened.pop_all()
        return engine

    def policy(self, stores: Stores) -> Policy:
        return BucketPolicy.of(self.job.problem, StrategyLocker(stores.strategies))

    def _dealing_engine(self, stores: Stores, board_buckets: Abstraction, tell: Listener) -> SampledEngine:
        from spewy.learn.sampled import SampledEngine

        job, dealing = self.job, self.dealing
        if job.solve.workers != "dask":
            return SampledEngine(
                job.rules,
                self.rounds,
                board_buckets,
                dealing.seed,
                threads=job.solve.workers,
                short=job.solve.short,
                cfr_br=dealing.cfr_br,
                opened=stores.read,
                check_flops=dealing.check_flops,
            )
        from spewy.learn.flop_engine import FlopEngine

        with ExitStack() as opened:
            settings = job.dask or DaskSection()
            cluster = opened.enter_context(connect(settings, noting(tell)))
            engine = FlopEngine(
                job.rules,
                self.rounds,
                board_buckets,
                dealing.seed,
                short=job.solve.short,
                cfr_br=dealing.cfr_br,
                opened=stores.read,
                cluster=cluster,
                shares=settings.workers,
                interval=settings.interval,
                check_flops=dealing.check_flops,
            )
            opened.pop_all()  # the engine closes the cluster
        return engine


def spec_of(game: Game, dealing: Dealing) -> AbstractionSpec:
    return AbstractionSpec(
        game.deck,
        game.num_hole_cards,
        tuple(game.num_board_cards),
        tuple("all" if k is None else k for k in dealing.board_buckets),
        tuple("hands" if k is None else k for k in dealing.rows),
        remember=dealing.remember,
    )


def _require_room(folder: Path, n_bytes: int) -> None:
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    in_use = sum(512 * path.lstat().st_blocks for path in folder.rglob("*.mdb")) if folder.exists() else 0
    free, needed = shutil.disk_usage(existing).free, n_bytes - in_use
    if needed > free:
        raise InputError(
            f"folder {folder}: the solve needs {size_text(needed)} of disk space, and {size_text(free)} are free; "
            "free some space, or choose another folder"
        )


def _same_game(store: Store, job: Job, folder: Path) -> Job:
    """Read the job of another solve, which must have the same game and betting as ``job``."""
    theirs, ours = store.manifest.get("job"), job.manifest()["job"]
    if not isinstance(theirs, dict) or theirs.get("boards") is None:
        raise InputError(
            f"start from {path_text(folder)}: expected the folder of a solve with [boards], found another"
        )

    def game(data: dict[str, Any]) -> dict[str, Any]:
        return {key: part for key, part in data.items() if key not in APART}

    other = [key for key in game(ours) if game(theirs).get(key) != game(ours)[key]]
    if other:
        raise InputError(
            f"start from {path_text(folder)}: expected the game and the betting of {job.name}, found another "
            f"[{'], ['.join(other)}]"
        )
    return Job.stored(theirs, f"folder {folder}")


def _refusal(job: Job, cost: SampledCost, short: SampledCost | None) -> str:
    halved = ""
    if short is not None and short.memory_bytes < cost.memory_bytes:
        halved = _in_16_bits(short.memory_bytes)
    return (
        f"solve.memory: this job needs at least {size_text(cost.memory_bytes)} without the "
        f"interpreter{halved}, found {job.solve.memory}"
    )


def _require_possible(job: Job, board_buckets: Sequence[int], rows: Sequence[int]) -> None:
    """Refuse a job whose numbers of lines and rows alone show that it is too large; the tree is not built."""
    count = job.tree_count
    per_class = [k * sum(one.slots) for k, one in zip(rows, count.rounds, strict=False)]
    least = 2 * itemsize(job) * int(np.dot(per_class, board_buckets[: len(per_class)]))
    if least > parse_memory(job.solve.memory):
        lines = ", ".join(f"{one.lines:,}" for one in count.rounds)
        more = "" if count.complete else f" (more than {MAX_NODES:,} betting nodes)"
        halved = "" if job.solve.short else _in_16_bits(least // 2)
        raise InputError(
            f"solve.memory: this job needs at least {size_text(least)}{halved} for {lines} lines by "
            f"round{more}, found {job.solve.memory}"
        )
    require_buildable(count)


def _in_16_bits(needed: int) -> str:
    return f', {size_text(needed)} with solve.precision = "16-bit"'


@dataclass(frozen=True, kw_only=True)
class SampledCost(Cost):
    """Counts and sizes of a job that samples boards.

    Attributes:
        lines: number of betting lines that lead to each round.
        board_buckets: number of board buckets of each round.
        rows: number of rows of a board bucket of each round.
        play_bytes: bytes of the strategy locker in the folder.
        judged_bytes: bytes that a measurement on all flops stores in the folder.
        seconds_per_deal: rough seconds of one core for a deal.
        making_seconds: rough seconds for computing board buckets and rows before the first deal; 0 if they exist.
    """

    lines: tuple[int, ...]
    board_buckets: tuple[int, ...]
    rows: tuple[int, ...]
    play_bytes: int
    judged_bytes: int
    seconds_per_deal: float
    making_seconds: float

    @property
    def counts(self) -> tuple[Count, ...]:
        return (
            (sum(self.lines), "line", "lines"),
            (sum(self.board_buckets), "board bucket", "board buckets"),
            *super().counts,
        )


def sampled_cost(
    job: Job,
    spec: AbstractionSpec,
    rounds: Sequence[LineForest],
    board_buckets: Sequence[int],
    rows: Sequence[int],
    *,
    made: bool,
) -> SampledCost:
    """Estimate the cost of a job; ``made`` says whether board buckets and rows exist already."""
    from solvers.sampled.batches import line_batches
    from solvers.sampled.numbers import bucket_size
    from solvers.sampled.quantise import byte_tables

    batches = line_batches([one.forest for one in rounds])
    item = itemsize(job)

    def stored(numbers: Sequence[int], rows: Sequence[int]) -> tuple[int, DiskSize, DiskSize]:
        """Return the bytes of regrets and sums in memory, and the sizes of their store and of the strategy locker."""
        sizes = [[bucket_size(s, p, k) for p in (0, 1)] for s, k in zip(batches, rows, strict=True)]
        disk, play, state = DiskSize(), DiskSize(), 0
        for t, (n, pair, s, k) in enumerate(zip(numbers, sizes, batches, rows, strict=True)):
            rivals = job.solve.cfr_br > 0 and t < len(rows) - 1
            copies = 3 if rivals else 2
            state += copies * item * n * sum(pair)
            disk = disk.plus(*(np.full(copies * n, item * size) for size in pair), np.full(n, VISIT_BYTES))
            for p in (0, 1):
                n_bytes = int(byte_tables(s, p, k).free_first[-1])
                portions = max(1, n_bytes // PORTION)
                play = play.plus(np.full(n * portions, n_bytes // portions))
        return state, disk, play

    state, disk, play = stored(board_buckets, rows)
    coarse, coarse_disk = 0, 0  # the state of the last stage with fewer buckets, and all stages on disk
    for stage in () if job.dealing is None else job.dealing.stages():
        numbers = [k or n for k, n in zip(stage.board_buckets, board_buckets, strict=True)]
        coarse, *stores = stored(numbers, [k or n for k, n in zip(stage.rows, rows, strict=True)])
        coarse_disk += sum(one.total for one in stores) + _abstraction_bytes(spec, numbers) + 2 * STORE_BYTES
    boards = _abstraction_bytes(spec, board_buckets)
    play_bytes, (judged, found) = play.total + boards + STORE_BYTES, _judged_bytes(spec, rounds, job.solve)
    tables = boards + _buffer_bytes(rounds, batches, rows, spec, job.solve) + found
    final = 0 if made else count_boards(spec.deck, spec.n_board)
    making = int(MAKING * final * comb(len(spec.deck), spec.hole))
    if not made:  # the tables of pairs are joined at the end
        making += 2 * sum(_pair_table_bytes(spec, t, board_buckets) for t in range(len(board_buckets)))
    seconds = _seconds_per_deal(spec, batches) * (RIVALS if job.solve.cfr_br > 0 else 1.0)
    memory = max(making, state * (SENT if job.solve.workers == "dask" else 1) + tables + COPIES)
    memory += 2 * state // PORTIONS  # a save writes one part of the state while it copies the next
    if coarse:
        memory = max(memory, state + coarse + tables + _overlap_bytes(spec, board_buckets, numbers, rows))
    clusters = not made and any(k not in ("all", "hands") for k in (*spec.board_buckets, *spec.rows))
    rest = boards + STORE_BYTES + judged + STORE_BYTES + coarse_disk
    return SampledCost(
        lines=tuple(len(one.lines) for one in rounds),
        board_buckets=tuple(board_buckets),
        rows=tuple(rows),
        information_sets=sum(
            n * k * sum(one.decisions)
            for n, k, one in zip(board_buckets, rows, job.tree_count.rounds, strict=True)
        ),
        state_bytes=state,
        table_bytes=tables,
        memory_bytes=memory,
        process_bytes=memory + PROCESS_BYTES + CLUSTERING_BYTES * clusters,
        disk_bytes=disk.total + play.total + rest,
        most_disk_bytes=disk.again(BYTES_AT_ONCE) + play.again(BYTES_AT_ONCE) + rest,
        play_bytes=play_bytes,
        judged_bytes=judged,
        seconds_per_deal=seconds,
        making_seconds=MAKING_SECONDS * final,
    )


def _overlap_bytes(spec: AbstractionSpec, new: Sequence[int], old: Sequence[int], rows: Sequence[int]) -> int:
    """Bound the bytes of the row overlaps between a stage (``old`` board buckets per round) and the next (``new``)."""
    dealt = DEALS * comb(len(spec.deck) - spec.n_board, spec.hole)
    return OVERLAP * sum(min(dealt, a * b * k * k) for a, b, k in zip(new, old, rows, strict=True))


def n_board_buckets(spec: AbstractionSpec) -> tuple[int, ...]:
    """Return an upper bound on each round's number of board buckets; an estimate if histories are too many to list."""
    numbers = []
    for t, asked in enumerate(spec.board_buckets):
        groups = spec.groups(t)
        if asked != "all":
            numbers.append(asked)
        elif len(groups) < 2:
            numbers.append(count_boards(spec.deck, sum(groups)))
        else:
            numbers.append(_histories(spec, groups))
    return tuple(numbers)


def n_rows(spec: AbstractionSpec) -> tuple[int, ...]:
    """Return an upper bound on the number of rows of a board bucket of each round."""
    numbers = []
    for t, asked in enumerate(spec.rows):
        hands = comb(len(spec.deck) - spec.n_cards(t), spec.hole)
        if asked == "hands":
            numbers.append(hands)
        else:
            different = hands if spec.n_cards(t) else _n_kinds(spec)
            numbers.append(min(asked, different))
    return tuple(numbers)


def _n_kinds(spec: AbstractionSpec) -> int:
    """Count the starting hands that differ by more than suits: 169 in hold'em."""
    return int(start_kinds(spec.deck, spec.hole).max()) + 1


def _histories(spec: AbstractionSpec, groups: Sequence[int]) -> int:
    """Count the histories with ``groups[i]`` cards in group i, up to suits; a rough estimate if there are too many."""
    ways = prod(comb(len(spec.deck), size) for size in groups)
    return len(board_map(spec.deck, groups).boards) if ways <= MAX_NUMBERS else ways // 24


def itemsize(job: Job) -> int:
    return 2 if job.solve.short else 4


def _seconds_per_deal(spec: AbstractionSpec, batches: Sequence[LineBatches]) -> float:
    hands = comb(len(spec.deck) - spec.n_board, spec.hole)
    shapes = [s.shape_of(i) for s in batches for i in range(len(s))]
    runs = sum(map(len, chain.from_iterable(s.runs for s in batches)))
    counts = len(shapes), runs, sum(sum(shape.n_slots) for shape in shapes)
    return SECONDS_PER_DEAL + hands * sum(
        n * seconds for n, seconds in zip(counts, SECONDS_PER_HAND, strict=True)
    )


def _abstraction_bytes(spec: AbstractionSpec, board_buckets: Sequence[int]) -> int:
    hands, total, last = comb(len(spec.deck), spec.hole), 0, len(board_buckets) - 1
    for t, k in enumerate(spec.rows):
        boards, ways = _n_boards(spec, t, board_buckets), _ways(spec, t)
        total += _pair_table_bytes(spec, t, board_buckets)
        if spec.remembers(t):  # a board makes a pair with each bucket to which one of its flops may belong
            boards *= min(board_buckets[spec.first], comb(spec.n_cards(t), spec.board_sizes[spec.first]))
        total += 5 * ways + 4 * boards  # a canonical number and a permutation; a bucket
        if k != "hands":
            total += 256 * board_buckets[t] if t == last and spec.n_cards(t) else boards * hands
    return total


def _ways(spec: AbstractionSpec, t: int) -> int:
    return prod(comb(len(spec.deck), size) for size in spec.groups(t))


def _n_boards(spec: AbstractionSpec, t: int, board_buckets: Sequence[int]) -> int:
    if spec.board_buckets[t] == "all":
        return board_buckets[t]
    groups = spec.groups(t)
    # in hold'em 652,353 of 14 million rivers after a turn differ by more than suits
    return _ways(spec, t) // 20 if len(groups) > 1 else count_boards(spec.deck, sum(groups))


def _pair_table_bytes(spec: AbstractionSpec, t: int, board_buckets: Sequence[int]) -> int:
    """Return the bytes of round t's table ``[board bucket of the flop, board]``; 0 if the round has none."""
    return 4 * board_buckets[spec.first] * _n_boards(spec, t, board_buckets) if spec.remembers(t) else 0


def _buffer_bytes(
    rounds: Sequence[LineForest],
    batches: Sequence[LineBatches],
    rows: Sequence[int],
    spec: AbstractionSpec,
    solve: SolveSection,
) -> int:
    """Return the bytes of the threads' buffers for deals and measurements, read from a game without board buckets."""
    from solvers.sampled.engine import TASK_DEALS, Context
    from solvers.sampled.numbers import Numbers

    forests = [betting.forest for betting in rounds]
    n, left = len(rounds), len(spec.deck) - spec.n_board
    hands = comb(left, spec.hole)
    nothing = Numbers.zeros(batches, [0] * n, rows, short=False)
    context = Context(forests, batches, rows, nothing, [hands] * n, left, [1.0] * n, [1.0] * n)
    parts = context.workspaces()
    n_bytes = sum(array.nbytes for part in parts for array in part if isinstance(array, np.ndarray))
    dealt = TASK_DEALS * hands * (2 * (2 * n + 4 * n) + 4 * (2 + 2 + 1 + 1 + 1))
    buffers = 3 if solve.cfr_br > 0 else 2  # of a player, of its rival, and for measurements
    return solve.threads * (buffers * n_bytes + dealt + JUDGING * hands * _below_first(spec))


def _judged_bytes(
    spec: AbstractionSpec, rounds: Sequence[LineForest], solve: SolveSection
) -> tuple[int, int]:
    """Estimate the bytes of best responses: on disk those on all flops, in memory those of one measurement."""
    from spewy.learn.real_game import FEW_BOARDS

    t = int(len(rounds) > 1 and not spec.board_sizes[0])
    lines, cards = len(rounds[t].lines), spec.board_sizes[t]
    if "hands" in spec.rows:
        boards, kinds = comb(len(spec.deck), cards), comb(len(spec.deck), spec.hole)
    else:
        boards, kinds = count_boards(spec.deck, cards), _n_kinds(spec)
    last, left = boards, len(spec.deck) - cards
    for more in spec.board_sizes[t + 1 :]:
        last, left = last * comb(left, more), left - more
    size = DiskSize().plus(np.full(boards, 8 * (2 * lines * kinds + 2)))
    drawn = boards if last <= FEW_BOARDS else min(boards, solve.check_flops)
    return size.total + STORE_BYTES, FOUND * size.total * drawn // boards


def _below_first(spec: AbstractionSpec) -> int:
    """Count the boards of all rounds from the flop on that contain a given flop."""
    left, ways, total = len(spec.deck), 1, 0
    dealt = [size for size in spec.board_sizes if size]
    for t, size in enumerate(dealt):
        ways *= comb(left, size) if t else 1
        left -= size
        total += ways
    return total
