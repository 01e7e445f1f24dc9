"""A session that is begun early: who loads modules while its JVM starts, in a process that has loaded none of them."""

import json
import subprocess
import sys

CODE = """
import json, sys, threading
from pathlib import Path
from fencepost.pipelines.jvm import end_session
from fencepost.pipelines.loading import SessionStarter

loaded = []

class Watching:
    def find_spec(self, name, path=None, target=None):
        loaded.append([name, threading.current_thread() is threading.main_thread()])

sys.meta_path.insert(0, Watching())
starter = SessionStarter(master="local[1]", app_name="starting", settings={}, folder=Path("."))
starter.begin()
spark = starter()
counted = spark.range(7).count()
end_session(spark)
print(json.dumps([loaded, counted]))
"""


def test_only_the_main_thread_loads_what_two_threads_could_give_each_other_half_made():
    done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    loaded, counted = json.loads(done.stdout.splitlines()[-1])
    assert counted == 7
    by_main = {name for name, is_main in loaded if is_main}
    assert {"pyspark", "pyspark.sql", "fencepost.spark.sink.transactional_sink", "fencepost.spark.source"} <= by_main
    elsewhere = {name for name, is_main in loaded if not is_main}
    # What Spark itself loads when its first call is made; nothing imports it back.
    own = {name for name in elsewhere if name.startswith("pyspark.testing")}
    assert {name for name in elsewhere - own if name.startswith(("pyspark.", "fencepost."))} == set()
