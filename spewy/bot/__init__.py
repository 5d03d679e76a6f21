"""The bot: plays the stored strategy, tracks ranges, re-solves."""
