"""Who is next on a list? The largest bound, found without reading the whole list."""
