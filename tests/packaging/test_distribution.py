"""Source distribution and wheel: everything of ours is in them, below the one package, and nothing else."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import beamjudge

ROOT = Path(__file__).parents[2]
ROOMS = ("pipelines", "transforms", "prompts", "schemas")
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")


def package_files() -> set[str]:
    """What has to be installed: every module and data file, by its path below site-packages."""
    files = {f"beamjudge/{path.name}" for path in (ROOT / "api").iterdir() if path.is_file()}
    for room in ROOMS:
        paths = [path for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".txt")]
        files |= {f"beamjudge/{path.relative_to(ROOT).as_posix()}" for path in paths}
    return files


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution of a copy, made as Beam makes it for `--setup_file`."""
    major = int(metadata.version("setuptools").split(".")[0])
    if major < 77:
        pytest.skip(f"setuptools {major} is older than the build needs; install the extra `dev`")
    source = tmp_path_factory.mktemp("source")
    for folder in ("api", *ROOMS, "docs", "examples"):
        shutil.copytree(ROOT / folder, source / folder, ignore=IGNORED)
    for name in (
        "setup.py",
        "pyproject.toml",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "constraints.txt",
    ):
        shutil.copy(ROOT / name, source)
    run([sys.executable, "setup.py", "-q", "sdist", "--dist-dir", "dist"], source)
    (archive,) = (source / "dist").iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    run([*command, "-w", str(folder), str(sdist)], folder)
    (path,) = folder.iterdir()
    return zipfile.ZipFile(path)


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_wheel_holds_our_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == package_files()


def test_the_wheel_declares_what_it_is(wheel: zipfile.ZipFile) -> None:
    folder = f"beamjudge-{beamjudge.__version__}.dist-info"
    declared = wheel.read(f"{folder}/METADATA").decode()
    assert f"\nVersion: {beamjudge.__version__}\n" in declared
    assert "\nLicense: Apache-2.0\n" in declared or "\nLicense-Expression: Apache-2.0\n" in declared
    assert "License :: OSI Approved" not in declared
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    scripts = wheel.read(f"{folder}/entry_points.txt").decode().split()
    assert scripts == ["[console_scripts]", "beamjudge", "=", "beamjudge.pipelines.cli:main"]


def test_the_source_distribution_has_documents_and_no_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "docs/outputs.md", "examples/assistant_log.jsonl"} <= names
    assert not any(name.startswith("tests") or name.endswith(".pyc") for name in names)
