"""Many jobs at the same time, in processes or on a cluster."""
