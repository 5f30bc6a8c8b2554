"""The model: a sparse GP, which is exact if every arm told is an inducing point."""
