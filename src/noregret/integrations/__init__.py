"""noregret inside other tools: one module for each, which imports its tool when it is used."""
