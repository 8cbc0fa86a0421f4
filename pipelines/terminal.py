"""Text from logs, folders and models on its way to a terminal."""


def printable(text: str, keep: str = "") -> str:
    """`text` without characters that act on a terminal: control characters and the like, but for those in `keep`."""
    return "".join(character if character.isprintable() or character in keep else "\ufffd" for character in text)
