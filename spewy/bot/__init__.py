"""Bots: who plays hands, from lockers and by re-solving; protocols as text and state; transports."""
