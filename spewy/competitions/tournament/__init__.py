"""Tournaments of many bots: matches of all pairs, rankings by a competition's rules, and a page with the result."""
