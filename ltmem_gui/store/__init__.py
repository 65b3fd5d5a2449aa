"""Jobs, stage-1 outputs and the operation log, in SQLite."""
