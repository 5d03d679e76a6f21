"""Looking at a solve: decisions, reports, pictures, one chunk laid open, dropped rounds solved again."""
