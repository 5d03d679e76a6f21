"""A bot for UPAC that needs only NumPy; competition packages contain a copy of this folder.

No module here imports another package of this project.
"""
