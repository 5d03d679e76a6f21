"""The job file: sections, loading, locks and units."""
