"""Servers on the web at which a bot plays hand after hand: requests, the record on disk, and each protocol."""
