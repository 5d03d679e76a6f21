"""CFR by sampled boards with rows that boards share; see `solvers.sampled.engine`."""
