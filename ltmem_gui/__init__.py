"""LTMem: a workbench for the long-term memory of coding agents."""

__version__ = "0.1.0"
