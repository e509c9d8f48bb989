# SPDX-License-Identifier: Apache-2.0
"""Pods that make parts, with a stand-in for DGL: environments, and Workers that run `assemble`."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from dglop.dglrun import contract
from test.unit.dglrun.dglrun_builders import environment

STANDIN = str(Path(__file__).parent / "standin")


def standin_environment(folder: Path, dataset: str, index: int = 0, /, **more: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    env = environment(folder, index, **{contract.ENV_DATASET_URL: dataset, **more})
    return env | {"PYTHONPATH": os.pathsep.join([STANDIN, *sys.path])}


def free_pair() -> int:
    """A port that is free like the one after it; no connection takes them for itself in the meantime."""
    for port in range(20000 + os.getpid() % 1000 * 10, 32000, 2):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for each in (port, port + 1):
                stack.enter_context(socket.create_server(("0.0.0.0", each)))
            return port
    raise AssertionError("no two free ports")


class Pods:
    """Workers that run `assemble`, each with a folder and an address of its own."""

    def __init__(self, tmp_path: Path, dataset: str, count: int, zipapp: Path, **more: str) -> None:
        self.folders = [tmp_path / f"pod{index}" for index in range(count)]
        port = str(free_pair())
        said = {
            contract.ENV_NUM_WORKERS: str(count),
            contract.ENV_NUM_PARTS: str(count),
            contract.ENV_RENDEZVOUS_HOST: "127.0.0.1",
            contract.ENV_ASSEMBLE_PORT: port,
            contract.ENV_HEARTBEAT_SECONDS: "0.2",
            contract.ENV_LOST_SECONDS: "10",
            contract.ENV_VERDICT_SECONDS: "1.5",
            contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "60",
            **more,
        }
        self._envs = [
            standin_environment(
                folder, dataset, index, **{contract.ENV_POD_IP: f"127.0.0.{index + 1}", **said}
            )
            for index, folder in enumerate(self.folders)
        ]
        self._zipapp = str(zipapp)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, **more: str) -> Pods:
        argv = [sys.executable, self._zipapp, "assemble"]
        self.processes = []
        for env, folder in zip(self._envs, self.folders, strict=True):
            with (folder / "log").open("wb") as log:
                self.processes.append(subprocess.Popen(argv, env=env | more, stdout=log, stderr=log))
        return self

    def ends(self) -> list[tuple[int, dict[str, Any]]]:
        codes = [process.wait(60) for process in self.processes]
        texts = [(folder / "termination-log") for folder in self.folders]
        return [
            (code, json.loads(text.read_text()) if text.exists() else {})
            for code, text in zip(codes, texts, strict=True)
        ]

    def parts(self, index: int) -> Path:
        return Path(self._envs[index][contract.ENV_PARTS_DIR])

    def child(self, index: int) -> int:
        """The process that does a pod's work."""
        pid = self.processes[index].pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def kill(self) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            process.wait(30)
