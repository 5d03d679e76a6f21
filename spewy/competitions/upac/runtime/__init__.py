"""A bot for UPAC that needs only NumPy; packages for the competition hold this folder as it is.

No module here imports another package of this project.
"""
