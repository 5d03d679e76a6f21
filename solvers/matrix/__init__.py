"""One betting round as a matrix game between rows of hands: its leaf matrices, CFR and the sequence-form LP."""
