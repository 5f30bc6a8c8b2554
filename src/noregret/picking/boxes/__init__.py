"""Who is next in a box or space? The largest bound, found by search."""
