from fencepost.pipelines import worker_daemon
from fencepost.pipelines.session import CHECKPOINT_FILES, STATE_STORE, session_settings


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


def test_workers_are_forked_from_a_process_that_has_loaded_what_there_is(monkeypatch):
    assert worker_daemon.preload() == list(worker_daemon.PRELOADED)
    monkeypatch.setattr(worker_daemon, "PRELOADED", ("json", "no_such_module_anywhere", "string"))
    assert worker_daemon.preload() == ["json", "string"]
