"""The one choke point that every text passes."""
