"""The event loop and its fences: QtCore and qasync, no widgets."""
