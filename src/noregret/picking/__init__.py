"""Who is next? Folders for lists, boxes and covers; here what they share, and drawn functions."""
