"""Competitions (ACPC, HIGC, UPAC, Slumbot, GTO Wizard) and tournaments: protocols, rules, bots and packages."""
