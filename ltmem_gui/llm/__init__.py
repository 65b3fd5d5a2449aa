"""Providers: the built-in rules and model clients."""
