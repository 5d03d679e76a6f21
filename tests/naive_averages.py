"""Frequencies in 255ths, one decision and one lane at a time."""

import numpy as np


def in_255ths(sums):
    """Whole numbers that add up to 255, by largest remainder; of equal remainders the first comes first."""
    sums = np.maximum(np.asarray(sums, dtype=np.float32), np.float32(0))
    total = np.float32(0)
    for x in sums:
        total += x
    shares = sums / total if total > 0 else np.full(len(sums), np.float32(1)) / np.float32(len(sums))
    exact = np.float32(255) * shares
    whole = np.floor(exact)
    order = sorted(range(len(sums)), key=lambda a: (-(exact[a] - whole[a]), a))
    for a in order[: 255 - int(whole.sum())]:
        whole[a] += 1
    return whole.astype(int).tolist()


def bucket_bytes(sums, batches, p, n_rows):
    """The bytes of a class's sums, decision by decision."""
    out = []
    first = batches.first(p, n_rows)
    for s in range(len(batches)):
        shape = batches.shape_of(s)
        mine = sums[first[s] : first[s + 1]].reshape(n_rows, shape.n_slots[p], 16)
        for row in range(n_rows):
            for n in range(len(shape.kind)):
                if shape.player[n] != p:
                    continue
                at, actions = shape.slot[n], shape.n_actions[n]
                lanes = [in_255ths(mine[row, at : at + actions, lane]) for lane in range(16)]
                out += [lanes[lane][a] for a in range(actions - 1) for lane in range(16)]
    return np.array(out, dtype=np.uint8)
