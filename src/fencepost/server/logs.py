"""The broker's log: one line per event, as text for people or as JSON for machines."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

logger = logging.getLogger("fencepost")

LogFormat = Literal["text", "json"]


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def configure_logs(*, level: str, log_format: LogFormat) -> None:
    """Send the log to standard error: standard output is the command's own."""
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)-7s %(message)s")
    handler.setFormatter(JsonFormatter() if log_format == "json" else text)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
