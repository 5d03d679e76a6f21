"""Two-player zero-sum games as arrays: chunk trees, leaves, CFR, the sequence-form LP, best responses."""
