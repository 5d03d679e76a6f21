"""Matches: tables, dealers, opponents, scores and what tells skill from luck."""
