# SPDX-License-Identifier: Apache-2.0
"""Makes what dglrun's tests need: environments, parts as DGL leaves them, a Partitioner that serves them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from dglop.dglrun import contract
from dglop.dglrun.serve import PartsHandler, Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "the job's token"
UID = "5f1e"


def environment(tmp_path: Path, index: int = 0, /, **more: str) -> dict[str, str]:
    """A pod's environment as the operator makes it, with short patience."""
    (tmp_path / "token").write_text(TOKEN + "\n")
    env = {
        "PATH": os.environ["PATH"],
        contract.ENV_JOB_NAME: "job",
        contract.ENV_JOB_UID: UID,
        contract.ENV_ATTEMPT: "1",
        contract.ENV_REPLICA_INDEX: str(index),
        contract.ENV_POD_NAME: f"job-worker-{index}",
        contract.ENV_NUM_PARTS: "2",
        contract.ENV_NUM_WORKERS: "2",
        contract.ENV_PARTS_DIR: str(tmp_path / "parts"),
        contract.ENV_PARTS_TOKEN_FILE: str(tmp_path / "token"),
        contract.ENV_TERMINATION_LOG: str(tmp_path / "termination-log"),
        contract.ENV_RUN_DIR: str(tmp_path / "run"),
        contract.ENV_KILL_SECONDS: "2",
    }
    return env | more


def write_dgl_parts(folder: Path, parts: int = 2, **changes: Any) -> dict[str, Any]:
    """What dgl.distributed.partition_graph leaves in `folder`; returns the config that it wrote."""
    config: dict[str, Any] = {
        "graph_name": "digits",
        "num_parts": parts,
        "num_nodes": 1797,
        "num_edges": 24680,
        "part_method": "metis",
        "node_map": {"_N": [[0, 900], [900, 1797]]},
    }
    for part in range(parts):
        (folder / f"part{part}").mkdir(parents=True, exist_ok=True)
        paths = {name: f"part{part}/{name}.dgl" for name in ("graph", "node_feat", "edge_feat")}
        for number, path in enumerate(paths.values()):
            (folder / path).write_bytes(bytes([part, number]) * 5000)
        config[f"part-{part}"] = {name.replace("graph", "part_graph"): path for name, path in paths.items()}
    config |= changes
    (folder / "digits.json").write_text(json.dumps(config))
    return config


PARTITION_COMMAND = """
import os
from pathlib import Path
from test.unit.dglrun.dglrun_builders import write_dgl_parts
write_dgl_parts(Path(os.environ["DGLJOB_PARTS_DIR"]), int(os.environ["DGLJOB_NUM_PARTS"]))
"""


def partitioned(tmp_path: Path, **more: str) -> dict[str, Any]:
    """Partition into `tmp_path`/parts by the real command; returns its last words."""
    code, message = run(
        environment(tmp_path, **more), "partition", "--", sys.executable, "-c", PARTITION_COMMAND
    )
    assert code == 0, message
    return message


def run(env: dict[str, str], *command: str) -> tuple[int, dict[str, Any]]:
    """Run a command of dglrun to its end, in a process of its own; (exit code, termination message)."""
    argv = [sys.executable, "-m", "dglop.dglrun", *command]
    code = subprocess.run(argv, env={"PYTHONPATH": os.pathsep.join(sys.path)} | env, check=False).returncode
    return code, json.loads(Path(env[contract.ENV_TERMINATION_LOG]).read_text())


class Flaw:
    """What is wrong with a server: it cuts the first answers after some bytes, or changes a byte of them."""

    def __init__(self, *, cuts: int = 0, after: int = 0, spoils: int = 0) -> None:
        self.cuts, self.after, self.spoils = cuts, after, spoils
        self.ranges: list[str] = []


@contextlib.contextmanager
def parts_server(tmp_path: Path, flaw: Flaw | None = None, uid: str = UID) -> Iterator[str]:
    """The real parts server over `tmp_path`/parts, in this process; yields its URL."""
    shelf = Shelf(str(tmp_path / "parts"), uid, lambda: TOKEN)
    names = {"shelf": shelf, "say": staticmethod(lambda _text: None)}
    if flaw is not None:
        names["do_GET"] = flawed(flaw)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (PartsHandler,), names))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def flawed(flaw: Flaw) -> Any:
    def do_get(self: Any) -> None:
        if not self.path.startswith("/files/part"):
            PartsHandler.do_GET(self)
            return
        flaw.ranges.append(self.headers.get("Range", ""))
        whole, connection = self.shelf.find(self.path.removeprefix("/files/")), self.connection
        if flaw.spoils > 0:
            flaw.spoils -= 1
            self.send_response(200)
            self.send_header(contract.MANIFEST_HASH_HEADER, self.shelf.manifest().hash)
            self.send_header("Content-Length", str(whole.size))
            self.end_headers()
            self.wfile.write(b"x" * whole.size)
        elif flaw.cuts > 0:
            flaw.cuts -= 1
            self.send_response(200)
            self.send_header(contract.MANIFEST_HASH_HEADER, self.shelf.manifest().hash)
            self.send_header("Content-Length", str(whole.size))
            self.end_headers()
            self.wfile.write((Path(self.shelf.folder) / whole.path).read_bytes()[: flaw.after])
            self.wfile.flush()
            connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            PartsHandler.do_GET(self)

    return do_get


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])
