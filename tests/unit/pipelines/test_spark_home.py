import pytest

from fencepost.pipelines.class_archive import lean_spark_home
from fencepost.pipelines.session import CHECKPOINT_FILES, STATE_STORE, session_settings


@pytest.fixture
def installed(tmp_path):
    folder = tmp_path / "site-packages" / "pyspark"
    for name in ("bin", "jars", "python/lib"):
        (folder / name).mkdir(parents=True)
    (folder / "python" / "lib" / "pyspark.zip").touch()
    return folder


def test_the_home_has_the_jars_and_not_the_archive(installed, tmp_path):
    home = lean_spark_home(installed, cache=tmp_path / "cache")
    assert (home / "jars").resolve() == (installed / "jars").resolve()
    assert (home / "bin").resolve() == (installed / "bin").resolve()
    assert not (home / "python").exists()


def test_the_home_is_made_once_and_an_installation_elsewhere_has_its_own(installed, tmp_path):
    cache = tmp_path / "cache"
    first = lean_spark_home(installed, cache=cache)
    assert lean_spark_home(installed, cache=cache) == first
    assert [path.name for path in cache.iterdir()] == [first.name]
    other = tmp_path / "elsewhere"
    installed.rename(other)
    assert lean_spark_home(other, cache=cache) != first


def test_what_is_asked_for_wins_over_the_defaults_and_a_cluster_gets_no_local_ones():
    local = session_settings("local[2]", {"spark.ui.enabled": "true"})
    assert local["spark.ui.enabled"] == "true"
    assert local["spark.hadoop.fs.file.impl"].endswith("RawLocalFileSystem")
    rocksdb = session_settings("local", {STATE_STORE: "org.apache.spark.state.RocksDBStateStoreProvider"})
    assert CHECKPOINT_FILES.items() <= local.items()
    assert CHECKPOINT_FILES.keys().isdisjoint(rocksdb), "RocksDB cannot upload through those"
    options = session_settings("local", {"spark.driver.extraJavaOptions": "-Xss4m"})["spark.driver.extraJavaOptions"]
    assert options.startswith("-Dlog4j2.")
    assert options.endswith(" -Xss4m")
    assert "spark.driver.host" not in session_settings("spark://host:7077", {})
