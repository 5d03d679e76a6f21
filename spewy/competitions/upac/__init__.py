"""The University Poker Algorithm Competition (UPAC): rules, games, and the tables and package of Spewy's bot."""
