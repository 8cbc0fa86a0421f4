"""The two errors that end a run; everything else that goes wrong is a value in the output."""


class UsageError(Exception):
    """Wrong usage: the message is one line that says what was given, what is expected and how to fix it. Exit 2."""


class RunFailed(Exception):
    """The run cannot go on (for example an endpoint that refuses the key): one line for the user. Exit 1."""
