import subprocess
import sys
import textwrap

import pytest

from fencepost.pipelines.loading import load_pipelines
from fencepost.pipelines.pipeline import InvalidPipeline

TWO = """
    from fencepost.pipelines import pipeline

    @pipeline(name="first", reads="a", writes="b")
    def first(a):
        return {"b": a}

    @pipeline(name="second", reads="b", writes="c")
    def second(b):
        return {"c": b}

    also_second = second
"""


def write(folder, name, text):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_all_pipelines_of_a_file_are_taken_in_their_order_and_each_once_or_the_one_that_is_named(tmp_path):
    path = write(tmp_path, "two.py", TWO)
    assert [one.name for one in load_pipelines(str(path))] == ["first", "second"]
    assert [one.name for one in load_pipelines(f"{path}:second")] == ["second"]
    with pytest.raises(InvalidPipeline, match=r"no pipeline 'secnd'.*did you mean 'second'"):
        load_pipelines(f"{path}:secnd")


def test_a_missing_file_and_a_file_without_pipelines_are_told_apart(tmp_path):
    with pytest.raises(InvalidPipeline, match="no such file"):
        load_pipelines(str(tmp_path / "nowhere.py"))
    with pytest.raises(InvalidPipeline, match="no pipeline here"):
        load_pipelines(str(write(tmp_path, "empty.py", "x = 1")))


def test_two_pipelines_of_one_name_are_refused_because_they_would_fence_each_other(tmp_path):
    path = write(tmp_path, "same.py", TWO.replace('name="second"', 'name="first"'))
    with pytest.raises(InvalidPipeline, match="two pipelines are named 'first'"):
        load_pipelines(str(path))


def test_a_file_may_use_modules_that_lie_beside_it(tmp_path):
    write(tmp_path, "beside_of_this_test.py", "TOPIC = 'from-beside'")
    path = write(
        tmp_path,
        "uses.py",
        """
        from beside_of_this_test import TOPIC
        from fencepost.pipelines import pipeline

        copy = pipeline(name="copy", reads="a", writes=TOPIC)(lambda a: {TOPIC: a})
        """,
    )
    assert load_pipelines(str(path))[0].writes == ("from-beside",)


def test_a_mistake_in_the_file_is_shown_as_it_is(tmp_path):
    with pytest.raises(ZeroDivisionError):
        load_pipelines(str(write(tmp_path, "broken.py", "1 / 0")))


def test_the_room_can_be_imported_without_spark_arrow_or_the_broker():
    code = (
        "import sys, fencepost.pipelines, fencepost.pipelines.loading, fencepost.pipelines.graph; "
        "print([name for name in ('pyspark', 'pyarrow', 'numba', 'fencepost.broker') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
