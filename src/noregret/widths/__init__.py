"""How wrong may we be? One function a theorem."""
