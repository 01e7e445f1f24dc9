from fencepost.pipelines import worker_daemon


def test_what_is_missing_is_no_reason_to_have_no_workers(monkeypatch):
    monkeypatch.setattr(worker_daemon, "PRELOADED", ("json", "no_such_module_anywhere", "string"))
    assert worker_daemon.preload() == ["json", "string"]


def test_everything_that_is_preloaded_exists_here():
    assert worker_daemon.preload() == list(worker_daemon.PRELOADED)
