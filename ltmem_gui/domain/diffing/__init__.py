"""Lines, hunks, patches and rows: everything about two versions of a text, without a window."""
