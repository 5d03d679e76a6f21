"""Competitions (ACPC, HIGC, UPAC, Slumbot) and tournaments: protocols, rules, bots and packages."""
