"""Server-side assignors of KIP-848 groups, by Kafka's names. An assignor is a pure function of an `AssignmentProblem`.

Whatever the assignor, every partition of a subscribed topic goes to exactly one member that subscribes to it.
"""

from collections.abc import Callable, Mapping

from fencepost.groups.assignors.problem import AssignmentProblem, TargetAssignment
from fencepost.groups.assignors.range import assign_range
from fencepost.groups.assignors.uniform import assign_uniform

DEFAULT_ASSIGNOR = "uniform"

ASSIGNORS: Mapping[str, Callable[[AssignmentProblem], TargetAssignment]] = {
    "uniform": assign_uniform,
    "range": assign_range,
}
