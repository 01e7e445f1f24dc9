"""Where compiled kernels are kept when the folder of the package cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fencepost

PROGRAM = """
import pyarrow as pa
from fencepost.records.columnar import encode
print(encode.__file__)
print(encode.murmur2_partitions(pa.array(["foobar"]), 1000).tolist())
"""


@pytest.fixture
def sealed_package(tmp_path: Path) -> Path:
    """A copy of the package that offers no place for a cache: a file stands where the folder would be made."""
    source = Path(fencepost.__file__).parent
    shutil.copytree(source, tmp_path / "site" / "fencepost", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "site" / "fencepost" / "records" / "columnar" / "__pycache__").write_text("not a folder")
    return tmp_path / "site"


def run(site: Path, home: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(site), "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True, timeout=120
    )
    return finished.stdout.splitlines()


def test_kernels_are_cached_in_the_users_folder_when_the_package_is_read_only(
    sealed_package: Path, tmp_path: Path
) -> None:
    path, partitions = run(sealed_package, tmp_path / "home")
    assert Path(path).is_relative_to(sealed_package)
    assert partitions == "[166]"
    assert list((tmp_path / "home").rglob("kernels.murmur2_partitions*.nbi"))


def test_kernels_work_without_any_place_for_a_cache(sealed_package: Path) -> None:
    path, partitions = run(sealed_package, Path(os.devnull))
    assert Path(path).is_relative_to(sealed_package)
    assert partitions == "[166]"
