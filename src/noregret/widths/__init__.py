"""How wrong may we be? One function for each theorem."""
