"""Arrow schemas of the tables."""
