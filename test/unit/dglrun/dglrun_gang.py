# SPDX-License-Identifier: Apache-2.0
"""A gang of real Workers on 127.0.0.x whose servers and trainers do what the test orders."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from dglop.dglrun import contract
from test.unit.dglrun.dglrun_builders import environment, free_port, partitioned

CHILD = """
import os, signal, sys, time
server = int(os.environ.get("DGL_SERVER_ID", "0"))
number = os.environ.get("LOCAL_RANK") or server % int(os.environ["DGL_NUM_SERVER"])
role = {"client": "trainer"}.get(os.environ["DGL_ROLE"], os.environ["DGL_ROLE"])
print(role, number, "waits", flush=True)
with open(os.path.join(os.environ["TEST_DIR"], "%s-%s" % (role, number))) as file:
    order = file.read()
exec(order)
"""

NAMES = ("server-0", "trainer-0", "trainer-1", "sampler-0")
SHORT = {
    contract.ENV_HEARTBEAT_SECONDS: "0.2",
    contract.ENV_LOST_SECONDS: "10",
    contract.ENV_VERDICT_SECONDS: "1.5",
    contract.ENV_RENDEZVOUS_TIMEOUT_SECONDS: "30",
    contract.ENV_SERVER_EXIT_SECONDS: "0.2",
}


class Worker:
    """The pod of a Worker, or of another role: a folder, an environment and its supervisor."""

    def __init__(
        self, folder: Path, env: dict[str, str], zipapp: Path, command: list[str] | None, role: str = "worker"
    ) -> None:
        self.folder, self.env = folder, env
        for name in NAMES:
            os.mkfifo(folder / name)
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(zipapp), role, "--", *(command or [sys.executable, "-c", CHILD])],
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def order(self, name: str, code: str) -> None:
        """Have a child run `code`; returns when the child has taken the order."""
        with contextlib.suppress(BrokenPipeError), (self.folder / name).open("w") as file:
            file.write(code)

    def order_soon(self, name: str, code: str) -> None:
        """The same for a child that may be gone before it can take the order."""
        Thread(target=self.order, args=(name, code), daemon=True).start()

    def let_go(self) -> None:
        """Free the threads whose orders nobody took."""
        for name in NAMES:
            os.close(os.open(self.folder / name, os.O_RDONLY | os.O_NONBLOCK))

    def wait(self) -> tuple[int, dict[str, Any]]:
        """(exit code, termination message)."""
        code = self.process.wait(60)
        text = (self.folder / "termination-log").read_text()
        return code, json.loads(text)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def is_ready(self) -> bool:
        return (self.folder / "run" / "ready").exists()

    def left(self) -> list[int]:
        """Processes of this Worker that are still there."""
        mark = f"TEST_DIR={self.folder}\0".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found


class Gang:
    """Workers that share a partitioning, made in `folder`; `more` is everyone's further environment."""

    def __init__(self, folder: Path, zipapp: Path, more: dict[str, str]) -> None:
        folder.mkdir()
        self.folder, self.zipapp, self.more = folder, zipapp, more
        self.port = free_port()
        self.workers: list[Worker] = []
        self.manifest = partitioned(folder, **more)["manifest"]

    def start(self, count: int = 2, **more: str) -> list[Worker]:
        """Start the Workers 0 to `count` - 1."""
        return [self.start_one(index, **more) for index in range(count)]

    def start_one(self, index: int, command: list[str] | None = None, /, **more: str) -> Worker:
        return self._start("worker", index, index, command, more)

    def start_apart(self, servers: int = 2, samplers: int = 1, trainers: int = 1) -> dict[str, Worker]:
        """Start pods of one role each, by their names."""
        counts = {"trainer": trainers, "server": servers, "sampler": samplers}
        more = {f"DGLJOB_NUM_{role.upper()}_PODS": str(count) for role, count in counts.items()}
        places = [(role, index) for role, count in counts.items() for index in range(count)]
        return {
            f"{role}-{index}": self._start(
                role, index, seat, None, {**more, contract.ENV_POD_NAME: f"job-{role}-{index}"}
            )
            for seat, (role, index) in enumerate(places)
        }

    def _start(
        self, role: str, index: int, seat: int, command: list[str] | None, more: dict[str, str]
    ) -> Worker:
        folder = self.folder / f"{role}-{index}-{len(self.workers)}"
        folder.mkdir()
        shutil.copytree(self.folder / "parts", folder / "parts")
        env = environment(folder, index) | SHORT
        env |= {
            "TEST_DIR": str(folder),
            contract.ENV_POD_IP: f"127.0.0.{seat + 1}",
            contract.ENV_RENDEZVOUS_HOST: "127.0.0.1",
            contract.ENV_RENDEZVOUS_PORT: str(self.port),
        }
        env |= self.more | more
        worker = Worker(folder, env, self.zipapp, command, role)
        self.workers.append(worker)
        return worker

    def kill(self) -> None:
        for worker in self.workers:
            for pid in worker.left():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
                    os.kill(pid, signal.SIGKILL)
            worker.process.wait()
            worker.let_go()
