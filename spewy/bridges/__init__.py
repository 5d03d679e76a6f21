"""Other programs: PioSOLVER's protocol UPI."""
