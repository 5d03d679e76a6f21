"""Cards: hands, suit symmetry, strength, clusters of hands and boards.

`buckets.cards` has cards, hands, suit symmetry, boards, strength and showdowns; `buckets.abstraction` groups boards and
hands that play alike. `buckets.kernels` has the compiled functions of both packages.
"""
