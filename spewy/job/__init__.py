"""Job files: sections, checks, the JSON schema; presets, whose data are in presets/."""
