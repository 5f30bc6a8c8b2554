"""What do we believe? A GP on a dictionary of inducing points, exact where it holds every arm."""
