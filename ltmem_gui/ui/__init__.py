"""The window: all Qt lives here."""
