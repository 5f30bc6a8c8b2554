"""The command line: ``noregret --help``."""
