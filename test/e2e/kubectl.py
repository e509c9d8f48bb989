# SPDX-License-Identifier: Apache-2.0
"""What an end-to-end test does to a cluster, through kubectl as a user would, and what it sees there."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ("Kubectl", "Watch")

T = TypeVar("T")
_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Kubectl:
    """One kubectl binary and one kubeconfig."""

    binary: Path
    kubeconfig: Path

    def command(self, *args: str) -> list[str]:
        return [str(self.binary), "--kubeconfig", str(self.kubeconfig), *args]

    def run(
        self, *args: str, stdin: str | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*args), input=stdin, capture_output=True, text=True, check=False, timeout=180
        )
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def out(self, *args: str) -> str:
        return self.run(*args).stdout

    def apply(self, *documents: dict[str, Any]) -> None:
        self.run("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in documents))

    def get(self, kind: str, name: str, namespace: str) -> dict[str, Any] | None:
        text = self.out("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def list(self, kind: str, namespace: str, selector: str = "") -> list[dict[str, Any]]:
        args = ["get", kind, "-n", namespace, "-o", "json"]
        if selector:
            args += ["-l", selector]
        items: list[dict[str, Any]] = json.loads(self.out(*args))["items"]
        return items

    def delete(self, kind: str, name: str, namespace: str, *args: str) -> None:
        self.run("delete", kind, name, "-n", namespace, "--ignore-not-found", *args)

    def exec(self, pod: str, namespace: str, *command: str, container: str = "") -> str:
        where = ["-c", container] if container else []
        return self.out("exec", pod, "-n", namespace, *where, "--", *command)

    def until(self, claim: str, probe: Callable[[], T | None], seconds: float = 300) -> T:
        """Ask again and again until ``probe`` gives something true; the limit only ends a hung test."""
        end = time.monotonic() + seconds
        while not (seen := probe()):
            if time.monotonic() > end:
                raise AssertionError(f"not seen within {seconds:.0f} s: {claim}")
            time.sleep(_POLL_SECONDS)
        return seen

    def watch(self, kind: str, namespace: str) -> Watch:
        return Watch(
            self.command("get", kind, "-n", namespace, "--watch", "--output-watch-events", "-o", "json")
        )


@dataclass(slots=True)
class Watch:
    """Every event of one kind in one namespace that the API server told, in order; for ``with``."""

    command: list[str]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._thread is not None
        self._process.terminate()
        self._process.wait(timeout=20)
        self._thread.join(timeout=20)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        decoder, text = json.JSONDecoder(), ""
        for line in self._process.stdout:
            text = (text + line).lstrip()
            # kubectl prints pretty JSON objects one after the other: a closing brace in column 0 ends one.
            if line.rstrip() != "}" and not line.startswith('{"'):
                continue
            event, end = decoder.raw_decode(text)
            text = text[end:]
            self.events.append((event["type"], event["object"]))

    def of(self, name: str) -> list[dict[str, Any]]:
        return [obj for _, obj in list(self.events) if obj["metadata"]["name"] == name]

    def distinct(self, name: str, read: Callable[[dict[str, Any]], Any]) -> list[Any]:
        """Each value that ``read`` gave over the life of ``name``, repeats of the one before left out."""
        values: list[Any] = []
        for obj in self.of(name):
            value = read(obj)
            if value is not None and (not values or values[-1] != value):
                values.append(value)
        return values

    def uids(self) -> dict[str, list[str]]:
        """Name → the uids seen under it, in order."""
        found: dict[str, list[str]] = {}
        for _, obj in list(self.events):
            known = found.setdefault(obj["metadata"]["name"], [])
            if obj["metadata"]["uid"] not in known:
                known.append(obj["metadata"]["uid"])
        return found
