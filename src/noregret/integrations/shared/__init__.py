"""What the adapters to several tools share."""
