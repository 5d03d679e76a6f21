"""The University Poker Algorithm Competition (UPAC): its rules, games between bots, and the tables and the package of Spewy's own bot."""
