"""A run of a solve: its plan, estimated cost, engine, saves, checks and result."""
