"""Divide a game into chunks, each the betting of one round from one public state: boards, rounds, subgames, locks."""
