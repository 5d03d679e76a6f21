"""Many jobs side by side, through joblib."""
