"""Sessions of coding agents, found and read as rollouts; nothing is ever written."""
