"""Competitions of poker bots: their protocols, rules, bots and packages."""
