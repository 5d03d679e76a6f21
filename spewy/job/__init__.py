"""Job files: sections, checks, presets, the JSON schema."""
