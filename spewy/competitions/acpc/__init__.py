"""The Annual Computer Poker Competition (ACPC): a dealer, a client, and a bot packaged as a folder."""
