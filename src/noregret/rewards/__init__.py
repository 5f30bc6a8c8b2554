"""What is a reward worth? Least squares, truncation, Huber regression, moments."""
