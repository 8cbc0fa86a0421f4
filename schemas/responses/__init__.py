"""Response shapes."""
