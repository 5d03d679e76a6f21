"""Tournaments of many bots: pairs, matches, standings by the rules of a competition, and a page with the result."""
