"""Matches: tables, entrants, opponents, scores without luck."""
