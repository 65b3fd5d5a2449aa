"""Item models and view state: QtCore, no widgets."""
