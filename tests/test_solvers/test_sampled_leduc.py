"""Leduc with a class per board and every board dealt in turn: CFR+ without sampling, to its published figures."""

import threading

import numpy as np
import pytest
from sampled_walk import learn_once

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.cards import Deck, hand_index, hands, permute_cards
from compiled.records import Packed
from solvers.discount import Discount
from solvers.sampled.batches import line_batches
from solvers.sampled.boards import Board, tree
from solvers.sampled.context import Context
from solvers.sampled.engine import SampledCfr
from solvers.sampled.numbers import Numbers
from spewy.chunks.rounds import betting_rounds
from spewy.job.job import Job

DECK = Deck(3, 2)
SWAPPED = (1, 0, 3, 2)
"""Suits of hearts and spades exchanged."""

PAIR = 100

EXPLOITABILITY = {100: 0.0134, 200: 0.0050, 500: 0.00094}
"""Of CFR+ in chips, by iterations."""


def boards():
    """The deal's board, and one board of each rank, which stands for both of its suits."""
    held = hands(DECK, 1)
    every = np.arange(len(held))
    out = [Board(0, 0, np.stack([every, np.full(6, 6)], axis=1), 6, every, every * 0, every[None])]
    for rank in range(3):
        card = DECK.cards[2 * rank]
        left = [c for c in DECK.cards if c != card]
        strength = np.array([PAIR if c >> 2 == card >> 2 else c >> 2 for c in left])
        order = np.lexsort((left, strength))
        live = np.array(left)[order]
        mine = hand_index(DECK, live[:, None])
        images = np.stack([mine, hand_index(DECK, permute_cards(live[:, None], SWAPPED))])
        cards = np.stack([np.searchsorted(left, live), np.full(5, 5)], axis=1)
        out.append(Board(1, rank, cards, 5, mine, strength[order], images))
    return out


def test_every_board_in_turn_is_cfr_plus_without_sampling():
    job = Job.of({"name": "Leduc", "game": {"file": "leduc"}})
    forests = [betting.forest for betting in betting_rounds(job.betting_tree)]
    batches = line_batches(forests)
    numbers = Numbers.zeros(batches, (1, 3), (6, 6), short=False)
    rig = Context(forests, batches, (6, 6), numbers, (6, 5), 6, (1.0, 1 / 4), (1.0, 1.0))
    scratch, out, all_boards = rig.packed_workspaces(), rig.out(), boards()
    packed, n = Packed(tree(all_boards)), len(all_boards)
    found = {}
    for iteration in range(1, 501):
        for p in (0, 1):
            learn_once(rig, Discount(gamma=1.0, clip=True), p, scratch, packed, n, out)
        if iteration in EXPLOITABILITY:
            best = [
                rig.values(p, scratch[0], packed, n, out, best_from=0)[0, :6, 0].sum() / 30 for p in (0, 1)
            ]
            found[iteration] = sum(best) / 2
    own = rig.values(0, scratch[0], packed, n, out, best_from=2)[0, :6, 0].sum() / 30
    assert own == pytest.approx(-0.0856, abs=1e-3)
    for iteration, chips in EXPLOITABILITY.items():
        assert found[iteration] == pytest.approx(chips, rel=0.1), found


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
