"""A run of a solve: its plan, estimated cost, engine, when it saves and checks."""
