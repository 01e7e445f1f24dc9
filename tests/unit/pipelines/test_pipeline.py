import pytest

from fencepost.pipelines import InvalidPipeline, Pipeline, pipeline


class Frame:
    """Stands for a DataFrame: the value only asks for its columns."""

    def __init__(self, *columns):
        self.columns = list(columns)


def test_the_decorator_makes_a_value_that_can_still_be_called_as_the_function():
    @pipeline(name="shop", reads="purchases", writes=["invoices", "shipments"])
    def shop(purchases):
        return {"invoices": purchases, "shipments": purchases}

    frame = Frame("key", "value")
    assert isinstance(shop, Pipeline)
    assert (shop.name, shop.reads, shop.writes) == ("shop", ("purchases",), ("invoices", "shipments"))
    assert shop(frame) == {"invoices": frame, "shipments": frame}


def test_several_inputs_are_given_in_the_order_of_reads():
    @pipeline(name="join", reads=["orders", "payments"], writes="receipts")
    def join(orders, payments):
        return {"receipts": (orders, payments)[1]}

    first, second = Frame("value"), Frame("value")
    assert join.outputs([first, second]) == {"receipts": second}


@pytest.mark.parametrize("name", ["", "two words", "über", "a/b", "x" * 101, None])
def test_a_name_that_no_transactional_id_could_be_made_of_is_refused(name):
    with pytest.raises(InvalidPipeline, match="characters a-z"):
        pipeline(name=name, reads="a", writes="b")(lambda a: {})


@pytest.mark.parametrize(
    ("reads", "writes", "message"),
    [
        ([], "b", "reads no topic"),
        ("a", [], "writes no topic"),
        ("a", ["b", "b"], "a topic twice"),
        ("a", "a", "reads what it writes"),
        ("a b", "c", "not a legal topic name"),
        ("a", "..", "not a legal topic name"),
        ("a" * 250, "b", "longer than 249"),
    ],
)
def test_topics_that_cannot_be_are_refused_by_name(reads, writes, message):
    with pytest.raises(InvalidPipeline, match=message):
        pipeline(name="p", reads=reads, writes=writes)(lambda *inputs: {})


def test_a_function_that_takes_another_number_of_inputs_is_refused_with_its_signature():
    def join(orders):
        return {}

    with pytest.raises(InvalidPipeline, match=r"must take 2 DataFrame\(s\); it is join\(orders\)"):
        pipeline(name="join", reads=["orders", "payments"], writes="receipts")(join)


def test_an_unknown_output_mode_is_refused_with_those_that_spark_knows():
    with pytest.raises(InvalidPipeline, match="append, update, complete"):
        pipeline(name="p", reads="a", writes="b", output_mode="upsert")(lambda a: {})


def outputs_of(result, writes=("b", "c")):
    return pipeline(name="p", reads="a", writes=writes)(lambda a: result).outputs([Frame("value")])


def test_outputs_come_in_the_declared_order():
    b, c = Frame("value"), Frame("value")
    assert list(outputs_of({"c": c, "b": b}).items()) == [("b", b), ("c", c)]


@pytest.mark.parametrize("result", [{}, {"b": Frame("value")}, {"b": Frame("value"), "d": Frame("value")}])
def test_a_result_that_names_other_topics_than_declared_is_refused(result):
    with pytest.raises(InvalidPipeline, match="writes 'b', 'c', but its function returned"):
        outputs_of(result)


@pytest.mark.parametrize("result", [None, 7, [Frame("value")], {"b": 1, "c": 2}])
def test_a_result_that_is_no_dataframe_is_refused_by_its_type(result):
    with pytest.raises(InvalidPipeline, match=r"expected a (dict|DataFrame)"):
        outputs_of(result)


def test_one_frame_with_a_topic_column_serves_all_outputs():
    frame = Frame("topic", "key", "value")
    assert outputs_of(frame) is frame


def test_one_frame_without_a_topic_column_serves_only_a_single_output():
    frame = Frame("key", "value")
    assert outputs_of(frame, writes="b") == {"b": frame}
    with pytest.raises(InvalidPipeline, match="without a 'topic' column"):
        outputs_of(frame)
