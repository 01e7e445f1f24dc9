"""`fencepost warm-up` makes an archive that Spark's JVM starts from; one that is broken does no harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.cli.main import examples, walk_commands

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]
START = """
import sys
from fencepost.pipelines.session import JAVA_OPTIONS, start_session
spark = start_session(settings={JAVA_OPTIONS: f"-Xlog:class+load:file={sys.argv[1]}"})
print(spark.range(5).count())
spark.stop()
"""
FIND = """
from fencepost.pipelines.class_archive import archive_path
from fencepost.pipelines.session import prepare_environment
prepare_environment()
print(archive_path())
"""
FROM_THE_ARCHIVE = "shared objects file (top)"


def run(*command: str, cache: Path) -> str:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    environment.pop("SPARK_HOME", None)
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def classes_from_archive(tmp_path: Path, cache: Path) -> int:
    log = tmp_path / "loaded"
    assert run("-c", START, str(log), cache=cache) == "5\n", "and nothing beside it"
    return sum(FROM_THE_ARCHIVE in line for line in log.read_text().splitlines())


def test_spark_starts_from_the_classes_that_were_kept_and_from_a_broken_archive_too(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    make, make_again = examples(dict(walk_commands())["fencepost warm-up"])
    archive = Path(run("-c", FIND, cache=cache).strip())
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(b"no archive")
    assert classes_from_archive(tmp_path, cache) == 0

    document = json.loads(run("-m", *make.split(), "--json", cache=cache))
    assert document["archive"] == str(archive)
    assert archive.read_bytes() == b"no archive", "there is one already"

    assert str(archive) in run("-m", *make_again.split(), cache=cache)
    assert list(cache.rglob("classes-*")) == [archive], "and nothing that was on the way to it"
    assert classes_from_archive(tmp_path, cache) > 5_000
