"""numpy, imported when it is first used: a broker on an empty folder listens before it has anything to index."""

from typing import Any


class _NumpyLater:
    def __getattr__(self, name: str) -> Any:
        import numpy

        found = getattr(numpy, name)
        setattr(self, name, found)
        return found


np = _NumpyLater()
