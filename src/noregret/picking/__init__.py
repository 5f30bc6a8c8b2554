"""Who is next? The largest bound over a list, a box or the cells of a cover."""
