"""Learns kernel, noise and norm: fits to data, designs, and a norm that doubles when refuted."""
