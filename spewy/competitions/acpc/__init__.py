"""The Annual Computer Poker Competition: dealer, client, and a bot packed into a folder."""
