"""Which kernel, noise and norm? Fits to data, designs, and a norm that doubles when refuted."""
