"""Request shapes."""
