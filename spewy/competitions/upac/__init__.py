"""UPAC: rules, games between packages, and the tables and package of our own bot."""
