"""Divide a game into chunks: its distinct boards, betting rounds, subgames and locks."""
