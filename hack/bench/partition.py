# SPDX-License-Identifier: Apache-2.0
"""Parts of one graph made by one process and by several: wall time, and the memory of each process."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hack.bench.errors import BenchError
from hack.bench.figures import megabytes, middle, seconds
from hack.bench.section import Section
from hack.zipapp import build_zipapp

if TYPE_CHECKING:
    from hack.bench.options import Options
    from hack.cluster.report import Report
    from hack.stack import Stack

__all__ = ("measure_partition", "pod_of", "rows_of")

NAME = "bench-partition"
_PROGRAM = Path(__file__).with_name("partition_program.py")
_LIMIT_SECONDS = 3600
_HEADER = (
    "who makes the parts",
    "wall",
    "peak memory of one process",
    "of all, at most",
    "edges between parts",
)


def measure_partition(stack: Stack, report: Report, options: Options) -> Section:
    """In a pod of the DGL image, each way `repeat` times. Raises BenchError when the pod fails."""
    with report.step("partition") as step, tempfile.TemporaryDirectory() as folder:
        build_zipapp(Path(folder) / "dglrun.pyz")
        _forget(stack)
        try:
            files = f"--from-file={folder}/dglrun.pyz", f"--from-file=program.py={_PROGRAM}"
            stack.run("create", "configmap", NAME, "-n", "default", *files)
            stack.run("create", "-f", "-", stdin=json.dumps(pod_of(stack.dgl_image, options)))
            lines = _lines_of(stack)
        finally:
            _forget(stack)
        step.note(f"{len(lines) - 1} partitionings")
    graph, *runs = lines
    title = f"{graph['parts']} parts of {graph['nodes']:,} nodes and {graph['edges']:,} edges"
    kind = f"the graph: communities, edges both ways, {graph['width']} float32 a node, as files of NumPy"
    notes = (kind, "the memory of a process is with Python, torch and DGL, some 290 MB, in it")
    return Section(title, _HEADER, rows_of(runs), notes)


def pod_of(image: str, options: Options) -> dict[str, Any]:
    container = {
        "name": "dgl",
        "image": image,
        "command": ["python3", "/bench/program.py", str(options.edges), str(options.repeat)],
        "volumeMounts": [{"name": "bench", "mountPath": "/bench"}, {"name": "tmp", "mountPath": "/tmp"}],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": "default"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "volumes": [
                {"name": "bench", "configMap": {"name": NAME}},
                {"name": "tmp", "emptyDir": {}},
            ],
        },
    }


def rows_of(runs: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """A row for each way, of medians."""
    ways: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        ways.setdefault(run["way"], []).append(run)
    rows: list[tuple[str, ...]] = []
    for way, each in ways.items():
        wall, peak, cut = (middle(run[key] for run in each) for key in ("seconds", "peakBytes", "cut"))
        everyone = megabytes(peak * each[0]["processes"])
        rows.append((way, seconds(wall), megabytes(peak), everyone, f"{cut:.1%}"))
    return rows


def _lines_of(stack: Stack) -> list[dict[str, Any]]:
    until = "--for=jsonpath={.status.phase}=Succeeded"
    try:
        for _ in range(_LIMIT_SECONDS // 240):
            if _ended(stack, until):
                break
        text = stack.run("logs", NAME, "-n", "default")
    except RuntimeError as error:
        raise BenchError(str(error)) from error
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if not lines or '"end"' not in lines[-1]:
        raise BenchError("the pod did not come to its end:\n" + "\n".join(text.splitlines()[-15:]))
    return [json.loads(line) for line in lines[:-1]]


def _ended(stack: Stack, until: str) -> bool:
    try:
        stack.run("wait", f"pod/{NAME}", "-n", "default", until, "--timeout=240s")
    except RuntimeError as error:
        phase = stack.run("get", "pod", NAME, "-n", "default", "-o", "jsonpath={.status.phase}")
        if "timed out" not in str(error):
            raise
        return phase == "Failed"
    return True


def _forget(stack: Stack) -> None:
    stack.run("delete", f"pod/{NAME}", f"configmap/{NAME}", "-n", "default", "--ignore-not-found", "--wait")
