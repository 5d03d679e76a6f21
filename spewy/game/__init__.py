"""Rules, betting, bet sizes, betting trees, lines, amounts, ranges."""
