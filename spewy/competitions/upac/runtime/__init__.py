"""A bot for UPAC that needs only NumPy; a package has a copy of this folder, and of modules of `buckets`."""
