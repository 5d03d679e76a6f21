"""Rules, betting, bet sizes, betting trees, ranges, and the names of rounds and seats."""
