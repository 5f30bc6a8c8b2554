"""Which kernel, noise and norm? Fits to data, designs, guess and double."""
