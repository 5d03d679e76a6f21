"""A bot for UPAC that needs nothing but NumPy: it is sent to the competition as it stands here.

Nothing in here imports the rest of the house, which a package leaves at home.
"""
