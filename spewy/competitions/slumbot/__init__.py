"""Slumbot's server on the web: its protocol, and a client that plays a session."""
