"""The provider without an AI model: deterministic, quoting, offline."""
