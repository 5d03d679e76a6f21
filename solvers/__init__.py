"""Two-player zero-sum games as arrays: variants of CFR, showdowns with card removal, LP, exploitability.

- `tree`, `game`: betting trees, and games of several rounds; `discount`: the variants of CFR as one schedule.
- `reference`: CFR for any game in plain loops. Tests compare the other engines with it.
- `matrix`: one betting round as a matrix game, solved by CFR or by linear programming.
- `exact`: CFR with a row per hand, in vectors and threads. `sampled`: CFR over sampled boards, for whole games.
- `steps`: decisions in vectors, for these two engines; `state`: regrets and sums as plain arrays.
- `measure`: exploitability; `solver`: the protocol of a solve in progress; `resolve`: gadgets for safe re-solving.

>>> variant("cfr+").discount.clip
True
"""

from solvers.discount import VARIANTS, Variant, variant

__all__ = ["VARIANTS", "Variant", "variant"]
