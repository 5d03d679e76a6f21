"""The bot: it plays a stored strategy, tracks both players' ranges, and re-solves subgames at the table."""
