"""UPAC: rules, games between bots, and the tables and package of Spewy's own bot."""
