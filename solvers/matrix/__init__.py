"""A betting round as a matrix game between rows (hands or buckets): payoff matrices of its leaves, CFR, and LP."""
