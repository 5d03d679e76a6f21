"""Other programs: PioSOLVER's protocol UPI, spots and solves in their formats."""
