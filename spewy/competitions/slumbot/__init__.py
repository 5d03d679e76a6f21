"""Slumbot's server on the web: its protocol, a client that plays a session, and a local stand-in for the server."""
