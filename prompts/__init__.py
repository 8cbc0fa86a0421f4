"""What each judge is asked, one text file a judge, and the loader."""

from functools import cache
from importlib import resources


@cache
def load_prompt(name: str) -> str:
    """The text of `prompts/<name>.txt`. Raises FileNotFoundError for a judge without a prompt."""
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
