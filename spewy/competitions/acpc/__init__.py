"""The Annual Computer Poker Competition (ACPC): dealer, client, and a folder with a bot."""
