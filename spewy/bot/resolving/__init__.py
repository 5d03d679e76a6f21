"""Re-solving of subgames at the table: their trees, solves within a time budget, and safety against the blueprint.

`spewy.bot.beliefs` decides when to re-solve.
"""
