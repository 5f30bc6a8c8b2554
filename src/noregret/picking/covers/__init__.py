"""Who is next on a cover? The largest bound of all its cells."""
