"""Spark's classes as the JVM keeps them in memory, in a file that it maps when it starts (class-data sharing).

Reading, checking and linking them is half of what a start of Spark costs. The archive belongs to one Java and one
installation of pyspark, and lies in the lean Spark home; `training.py` makes it. A JVM that finds it unfit (another
class path, another Java) leaves it alone and starts as if there were none.
"""

import hashlib
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

# A Spark home whose Python workers import pyspark from site-packages, where it is compiled, and not from
# `pyspark.zip`.
#
# Spark puts `$SPARK_HOME/python/lib/pyspark.zip` in front of every worker's path; source is read from the archive and
# compiled anew by every process that starts, which takes seconds. This home has the same `bin` and `jars`, as links,
# and no archive. It is kept in the user's cache folder, one per installation of pyspark.


LINKED = ("bin", "jars", "sbin")
PREFIX = "spark-home-"
SUFFIX = ".jsa"
"""Of archives of classes."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fencepost"


def lean_spark_home(installed: Path, *, cache: Path | None = None) -> Path:
    """The home for the pyspark that is installed at `installed`; made when it is not there yet."""
    mark = hashlib.sha256(str(installed).encode()).hexdigest()[:12]
    home = (cache or cache_folder()) / f"{PREFIX}{mark}"
    if is_whole(home, installed):
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    forget_removed(home.parent)
    made = Path(tempfile.mkdtemp(prefix=".spark-home-", dir=home.parent))
    for name in LINKED:
        if (installed / name).exists():
            (made / name).symlink_to(installed / name)
    try:
        made.rename(home)
    except OSError:
        # Another process was faster, or an older home lies there: a whole one is as good as ours.
        if not is_whole(home, installed):
            return made
        for link in made.iterdir():
            link.unlink()
        made.rmdir()
    return home


def is_whole(home: Path, installed: Path) -> bool:
    return all(
        (home / name).resolve() == (installed / name).resolve() for name in LINKED if (installed / name).exists()
    )


def is_lean(home: Path) -> bool:
    return home.name.startswith(PREFIX)


def forget_removed(cache: Path) -> None:
    """Archives of classes, which are large, for a pyspark that is gone. The links stay: for another container that
    shares this folder it may be there, and a missing archive only makes a start slower."""
    for home in cache.glob(f"{PREFIX}*"):
        if (home / "jars").is_symlink() and not (home / "jars").exists():
            remove_archives(home)


def remove_archives(home: Path, *, but: Path | None = None) -> None:
    for archive in home.glob(f"*{SUFFIX}"):
        if archive != but:
            archive.unlink(missing_ok=True)


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
