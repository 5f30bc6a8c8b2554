"""Problems and data sets of the papers' experiments."""
