"""ACPC, HIGC, UPAC and tournaments: protocols, rules, bots, packages."""
