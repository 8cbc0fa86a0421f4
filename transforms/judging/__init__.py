"""Asking a judge: what is asked of a row, by whom it is answered, and how the reply is read."""
