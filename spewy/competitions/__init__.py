"""Competitions ACPC, HIGC and UPAC, and tournaments: protocols, rules, bots, packages."""
