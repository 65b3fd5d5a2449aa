"""The memory folder: layout, reader, baseline, diff, writer."""
