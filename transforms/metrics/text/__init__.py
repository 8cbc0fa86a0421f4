"""Scores of a response against reference answers, equal to those of the libraries that define them."""
