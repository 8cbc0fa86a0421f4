"""Trace formats."""
