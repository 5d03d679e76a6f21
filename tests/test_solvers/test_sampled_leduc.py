"""Leduc with a bucket per rank of the board, solved by drawn deals, and a thread that fails."""

import threading

import numpy as np
import pytest

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.cards import Deck, hand_index, hands, permute_cards
from compiled.records import Packed
from solvers.sampled.batches import line_batches
from solvers.sampled.boards import Board, paths, tree
from solvers.sampled.engine import DEFAULT_DISCOUNT, TASK_DEALS, Context, SampledCfr, tasks_of
from solvers.sampled.numbers import Numbers
from spewy.chunks.rounds import betting_rounds
from spewy.job.job import Job

DECK = Deck(3, 2)
SWAPPED = (1, 0, 3, 2)
"""Suits of hearts and spades exchanged."""

PAIR = 100


def boards():
    """The deal's board, and one board of each rank, which stands for both of its suits."""
    held = hands(DECK, 1)
    every = np.arange(len(held))
    out = [Board(0, 0, np.stack([every, np.full(6, 6)], axis=1), 6, every // 2, every * 0, every[None])]
    for rank in range(3):
        card = DECK.cards[2 * rank]
        left = [c for c in DECK.cards if c != card]
        strength = np.array([PAIR if c >> 2 == card >> 2 else c >> 2 for c in left])
        order = np.lexsort((left, strength))
        live = np.array(left)[order]
        mine = hand_index(DECK, live[:, None])
        images = np.stack([mine, hand_index(DECK, permute_cards(live[:, None], SWAPPED))])
        cards = np.stack([np.searchsorted(left, live), np.full(5, 5)], axis=1)
        out.append(Board(1, rank, cards, 5, mine // 2, strength[order], images))
    return out


def deals(drawn):
    """Deals of drawn cards, each the number of a card of the deck; hands and boards are known by rank."""
    left = np.array([[c for c in DECK.cards if c != card] for card in DECK.cards])
    strength = np.where(left >> 2 == np.array(DECK.cards)[:, None] >> 2, PAIR, left >> 2)
    order = np.argsort(strength, axis=1, kind="stable")
    hand = np.take_along_axis(hand_index(DECK, left[:, :, None]), order, axis=1)
    cards = np.stack([order, np.full(order.shape, 5)], axis=2)
    buckets, rows = (
        np.stack([np.zeros(6, int), np.arange(6) // 2], axis=1),
        np.stack([hand // 2, hand // 2], axis=1),
    )
    strength = np.take_along_axis(strength, order, axis=1)
    return paths(buckets[drawn], rows[drawn], cards[drawn], strength[drawn], 5)


@pytest.mark.parametrize(("share", "most"), [(0.0, 0.006), (0.5, 0.012)])
def test_drawn_deals_come_to_the_value_of_leduc(share, most):
    job = Job.of({"name": "Leduc", "game": {"file": "leduc"}})
    forests = [betting.forest for betting in betting_rounds(job.betting_tree)]
    batches = line_batches(forests)
    numbers = Numbers.zeros(batches, (1, 3), (3, 3), short=False, rivals=share > 0)
    player, judge = (
        Context(forests, batches, (3, 3), numbers, (6, 5), 6, chances, (1.0, 1.0))
        for chances in ((1.0, 1.0), (1.0, 1 / 4))
    )
    works, rng = player.packed_workspaces(rivals=share > 0), np.random.default_rng(0)
    for first in range(0, 64_000, 1000):
        drawn = Packed(deals(rng.integers(6, size=1000)))
        player.learn(DEFAULT_DISCOUNT, share, works, drawn, 1000, first)
    all_boards = boards()
    packed, buffers, out = Packed(tree(all_boards)), judge.workspaces(), judge.out()
    oop, ip = (
        judge.values(p, Packed(buffers), packed, len(all_boards), out, own=p == 0)[0, :6, 0].sum() / 30
        for p in (0, 1)
    )
    own = buffers[0].own_values.reshape(-1, 16)[:6, 0].sum() / 30
    assert own == pytest.approx(-0.0856, abs=1e-3)
    assert 0 < (oop + ip) / 2 < most


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_a_thread_that_fails_ends_the_others_before_anybody_hears_of_it(error):
    job = Job.of({"name": "Leduc", "game": {"file": "leduc"}})
    forests = [betting.forest for betting in betting_rounds(job.betting_tree)]
    made = Abstraction.build(AbstractionSpec(DECK, 1, (0, 1), ("all", 2), (2, 3)))
    begun, ended, failed = [], [], threading.Event()

    def deal(first, n):
        begun.append(first)
        if first == 0:
            failed.set()
            raise error
        failed.wait(10)
        threading.Event().wait(0.2)  # long enough for the error to be on its way
        ended.append(first)
        return made.deal(0, range(first, first + n))

    cfr = SampledCfr(forests, made.n_board_buckets, made.n_rows, made.n_hands, len(DECK) - 1, deal, threads=3)
    with pytest.raises(error):
        cfr.run(300)
    assert sorted(begun) == [0, *sorted(ended)]
    assert len(begun) < 6  # what nobody had begun stays undone
    assert cfr.iteration == 0
    cfr.close()


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("n", [1, 2, 6, 15, 16, 33, 100, 1000])
def test_every_deal_comes_once_and_every_thread_gets_some(n, threads):
    tasks = tasks_of(7, n, threads)
    assert [deal for first, few in tasks for deal in range(first, first + few)] == list(range(7, 7 + n))
    assert len(tasks) >= min(n, 4 * threads)
    assert max(few for _, few in tasks) <= TASK_DEALS
