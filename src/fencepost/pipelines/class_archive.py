"""Spark's classes as the JVM keeps them in memory, in a file that it maps when it starts (class-data sharing).

Reading, checking and linking them is half of what a start of Spark costs. The archive belongs to one Java and one
installation of pyspark, and lies in the lean Spark home; `training.py` makes it. A JVM that finds it unfit (another
class path, another Java) leaves it alone and starts as if there were none.
"""

import hashlib
import os
import shutil
from importlib.metadata import version
from pathlib import Path

from fencepost.pipelines.spark_home import SUFFIX, is_lean

QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""A JVM that cannot use the archive would say so among the output of whoever started it."""


def archive_path() -> Path | None:
    """Where it lies, or would; None where Spark's home is not ours, or no Java was found."""
    home = Path(os.environ.get("SPARK_HOME", ""))
    java = java_in_use()
    if java is None or not is_lean(home):
        return None
    told = f"{java} {java.stat().st_mtime_ns} {version('pyspark')}"
    return home / f"classes-{hashlib.sha256(told.encode()).hexdigest()[:12]}{SUFFIX}"


def using_archive() -> str:
    """Options for the JVM, none if there is no archive."""
    path = archive_path()
    return f'"-XX:SharedArchiveFile={path}" {QUIET}' if path is not None and path.exists() else ""


def making_archive(path: Path) -> str:
    """Options for the JVM that writes the archive when it ends."""
    return f'"-XX:ArchiveClassesAtExit={path}" {QUIET}'


def speaks_of_archive(java_options: str) -> bool:
    """Whoever makes an archive, or has one of their own, does not want ours."""
    return "ArchiveClassesAtExit" in java_options or "SharedArchiveFile" in java_options


def java_in_use() -> Path | None:
    """As Spark's launcher finds it."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return Path(found).resolve() if found and Path(found).exists() else None
