"""A bot for UPAC that needs only NumPy; a package for the competition contains a copy of this folder.

No module in this folder imports another package of this project.
"""
