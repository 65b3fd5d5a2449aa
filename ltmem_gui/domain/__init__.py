"""Vocabulary and rules: no I/O, no clock, no Qt (design §3)."""
