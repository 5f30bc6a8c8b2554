"""noregret inside other tools: a module or a package for each, which imports its tool."""
