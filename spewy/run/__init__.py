"""A run from plan to result: what it will cost, which engine, when to check, save and stop."""
