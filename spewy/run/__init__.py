"""A solve from plan to result: cost, engine, checks, saves, and when to stop."""
