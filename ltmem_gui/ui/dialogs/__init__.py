"""Sheets and dialogs: opened, never executed."""
