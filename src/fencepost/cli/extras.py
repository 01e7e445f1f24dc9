"""Commands that need more than `pip install fencepost` gives, and say so before anything else."""

from importlib.util import find_spec

from fencepost.cli.failures import Failure

INSTALL_SPARK = "there is no Spark here: pip install 'fencepost[spark]'"


def has_spark() -> bool:
    return find_spec("pyspark") is not None


def require_spark() -> None:
    if not has_spark():
        raise Failure(INSTALL_SPARK)
