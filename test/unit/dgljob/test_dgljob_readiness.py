# SPDX-License-Identifier: Apache-2.0
"""How a container of a job becomes ready without a probe that fails at a normal start or end."""

from __future__ import annotations

import subprocess
import sys

from test.unit.dgljob.dgljob_pods import container, mounts, pods, worker_of, workers
from test.unit.dgljob.dgljob_world import make_job


def ready_file(probe):
    """What a probe waits for that fails at no normal start and never ends its container."""
    assert probe["timeoutSeconds"] >= 24 * 60 * 60
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 24 * 60 * 60
    return probe["exec"]["command"][-1]


def test_ready_means_that_the_workers_have_met():
    main = container(worker_of(make_job()))
    assert ready_file(main["startupProbe"]) == "/etc/dgl/ready"
    assert "readinessProbe" not in main  # the file is gone before the container: it would fail at each end


def test_the_parts_server_is_ready_when_all_can_be_fetched():
    server = container(pods(make_job())["partitioner-0"], "dglrun-serve")
    assert ready_file(server["startupProbe"]) == "/etc/dgl/ready"
    assert "readinessProbe" not in server
    assert "/etc/dgl" in mounts(server)


def test_probes_of_ones_own_stay():
    own = {"exec": {"command": ["mine"]}}
    main = container(worker_of(make_job(specs=workers(readinessProbe=own, livenessProbe=own))))
    assert (main["readinessProbe"], main["livenessProbe"]) == (own, own)
    assert ready_file(main["startupProbe"]) == "/etc/dgl/ready"
    main = container(worker_of(make_job(specs=workers(startupProbe=own))))
    assert main["startupProbe"] == own
    assert ready_file(main["readinessProbe"]) == "/etc/dgl/ready"
    main = container(worker_of(make_job(specs=workers(startupProbe=own, readinessProbe=own))))
    assert (main["startupProbe"], main["readinessProbe"]) == (own, own)


def test_the_probe_ends_well_once_the_ready_file_is_there(tmp_path):
    command = container(worker_of(make_job()))["startupProbe"]["exec"]["command"]
    ready = tmp_path / "ready"
    with subprocess.Popen([sys.executable, *command[1:-1], str(ready)]) as probe:
        assert probe.poll() is None
        ready.touch()
        assert probe.wait(60) == 0
