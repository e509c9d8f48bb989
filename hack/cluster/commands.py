# SPDX-License-Identifier: Apache-2.0
"""Other programs, run to their end, with an error that shows what they said."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from hack.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ("output", "stream", "succeeds", "system_path")

LAST_LINES = 15


def system_path(path: str | None = None) -> str:
    """PATH with the folders of system programs, which a plain user's PATH may lack."""
    known = (os.environ.get("PATH", "") if path is None else path).split(os.pathsep)
    wanted = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join([*filter(None, known), *(folder for folder in wanted if folder not in known)])


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, "PATH": system_path(), **(extra or {})}


def _failed(argv: Sequence[str], code: int, said: str) -> ClusterError:
    last = "\n".join(f"    {row}" for row in said.strip().splitlines()[-LAST_LINES:])
    return ClusterError(f"`{' '.join(argv)}` ended with {code}:\n{last}")


def output(argv: Sequence[str], *, stdin: str | None = None, env: Mapping[str, str] | None = None) -> str:
    """What the program printed; ClusterError with its last lines when it failed or is not there."""
    try:
        ended = subprocess.run(
            argv, input=stdin, env=_environment(env), capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ClusterError(f"the program `{argv[0]}` is not installed") from None
    if ended.returncode != 0:
        raise _failed(argv, ended.returncode, ended.stderr + ended.stdout)
    return ended.stdout


def succeeds(argv: Sequence[str]) -> bool:
    """Whether the program is there and ends well within a minute; what it says is dropped."""
    try:
        ended = subprocess.run(argv, env=_environment(None), capture_output=True, check=False, timeout=60)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def stream(
    argv: Sequence[str],
    each: Callable[[str], None],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a long program: every line goes to `log` and to `each`; ClusterError when it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    tail: list[str] = []
    with (
        log.open("a") as file,
        subprocess.Popen(
            argv,
            cwd=cwd,
            env=_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        file.write(f"$ {' '.join(argv)}\n")
        for row in process.stdout or ():
            file.write(row)
            tail = [*tail[-LAST_LINES:], row]
            each(row.rstrip())
    if process.returncode != 0:
        raise _failed(argv, process.returncode, "".join(tail))
