"""Dense linear algebra that is updated rather than computed again."""
