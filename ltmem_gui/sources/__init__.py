"""Transcripts of each agent, read into one model."""
