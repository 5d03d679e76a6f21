"""The bot: it plays a stored strategy, tracks ranges, re-solves."""
